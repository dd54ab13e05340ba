"""Which dataset feeds which: the graph, its questions, and the ways to obtain a dataset."""
