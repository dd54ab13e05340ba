"""Start, watch, cancel and end a Spark session."""
