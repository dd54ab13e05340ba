"""Cases for Great Expectations: a table each, with all that is asked of it."""
