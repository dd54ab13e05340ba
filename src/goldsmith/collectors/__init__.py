"""Collect metadata, lineage and query logs from warehouses, one file a warehouse."""
