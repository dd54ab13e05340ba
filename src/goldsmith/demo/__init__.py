"""The demo: realistic raw data, and the catalog that turns it into gold tables."""
