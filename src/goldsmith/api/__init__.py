"""The HTTP API: one router a noun, under /api/v1."""
