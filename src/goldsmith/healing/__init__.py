"""Healing: classify a failure, try the remedies of its error code, and decide what follows."""
