"""Metrics of throttles, one file each."""
