"""Data quality checks: found by name, configured by settings, evaluated to outcomes."""
