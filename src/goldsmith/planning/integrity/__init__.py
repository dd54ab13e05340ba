"""What is wrong with the rows, before anything runs: one file a finding."""
