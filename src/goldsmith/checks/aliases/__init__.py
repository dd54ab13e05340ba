"""Tables that map the checks of other tools, by name and settings, to Goldsmith's checks."""
