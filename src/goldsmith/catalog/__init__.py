"""The catalog: the rows people declare, and the history of every change to them."""
