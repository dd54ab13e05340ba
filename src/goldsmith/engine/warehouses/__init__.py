"""Warehouses: where gold tables are loaded, in one transaction that also writes the ledger."""
