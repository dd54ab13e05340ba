"""Evaluate the checks of a stage and of a dataset, and decide whether the rows may be published."""
