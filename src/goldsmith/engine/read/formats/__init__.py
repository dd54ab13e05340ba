"""File formats, one file per format."""
