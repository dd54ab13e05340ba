"""Transforms: the declarative steps of a stage's options, one file each."""
