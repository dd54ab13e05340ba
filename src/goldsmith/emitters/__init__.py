"""Send what was collected to its receiver: Monte Carlo, or a server that speaks its API."""
