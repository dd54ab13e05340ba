"""The demo: a realistic raw data set and the catalog that turns it into gold tables."""
