"""Readers: files and tables as rows."""
