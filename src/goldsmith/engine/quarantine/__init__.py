"""Store quarantined rows, decide which are live, and replay them."""
