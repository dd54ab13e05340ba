"""What happened: the audit log, runs, requests, leases. Written by us, read by everybody."""
