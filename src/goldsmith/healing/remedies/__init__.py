"""The remedies, one per file; catalog rows name a remedy by its file name."""
