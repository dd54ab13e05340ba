"""Writers: how rows get into a lake table, one file a write mode."""
