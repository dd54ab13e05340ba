"""The journal: the audit log, runs, requests, leases. Goldsmith writes it, any tool may read it."""
