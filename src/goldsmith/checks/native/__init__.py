"""Checks of rows that lie in Parquet files, put to them by Arrow within Spark's tasks.

Spark says what each check would compute (`trees`); what Arrow is known to compute alike it
computes, several times quicker, on columns as the files hold them (`kernel`). Keys are counted by
their order or by their hashes (`counting`). All else, and all that Arrow cannot be sure of once it
has seen the values, is measured by Spark as ever.
"""
