"""Evaluate checks on rows in Parquet files with Arrow, inside Spark tasks: `measure` is the door.

Spark's plan shows what each check computes (`expressions`). Arrow computes what it is known to
compute with the same result, several times faster, on the columns of the files (`arrow_eval`).
Keys are counted by their sort order or by their hashes (`count_keys`). Spark measures the rest,
and whatever Arrow may treat differently once it has seen the values.
"""
