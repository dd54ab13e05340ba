"""Send what we know to other systems: Monte Carlo, or our own gateway."""
