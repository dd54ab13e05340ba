"""Which dataset feeds which: the graph, its questions, and the paths to obtain a dataset."""
