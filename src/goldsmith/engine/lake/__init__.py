"""Iceberg tables through Spark: create, alter, branch, and find their files and states."""
