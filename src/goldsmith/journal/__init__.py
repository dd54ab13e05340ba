"""What happened: the audit log, runs, requests, leases. Goldsmith writes it, anybody reads it."""
