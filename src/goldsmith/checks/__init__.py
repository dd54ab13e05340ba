"""What must hold of the data: checks by name, their settings and their verdicts."""
