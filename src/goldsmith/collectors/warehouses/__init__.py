"""The warehouses that can be collected from: one file each, found by its name."""
