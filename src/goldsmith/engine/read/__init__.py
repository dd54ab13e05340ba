"""Select the inputs of a stage, and read files and tables as rows."""
