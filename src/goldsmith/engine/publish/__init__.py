"""Hold leases, make staged rows visible, and recover what a dead worker left."""
