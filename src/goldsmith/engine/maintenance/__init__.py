"""Maintain tables outside of runs: compact, expire, move, preview a backfill."""
