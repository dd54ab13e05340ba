"""The remedies, one a file: the file's name is the word of the catalog's rows."""
