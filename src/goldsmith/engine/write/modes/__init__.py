"""Write modes for lake tables, one file per mode."""
