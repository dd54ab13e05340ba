"""Fetch Java and the jars that Spark needs onto this machine."""
