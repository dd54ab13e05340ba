"""Turn input rows into the rows of the target: SQL, transforms, schema policy."""
