"""The command line: where people come in."""
