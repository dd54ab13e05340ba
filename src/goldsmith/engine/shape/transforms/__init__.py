"""Transforms that a stage's options declare, one file each."""
