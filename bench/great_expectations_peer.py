"""The suite of bench/checks.py in Great Expectations, booleans only; run in its environment."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import great_expectations as gx
import great_expectations.expectations as gxe
from pyspark.sql import SparkSession


def suite() -> list[object]:
    """What of the twenty checks it has; the reference to customers is a query of its own."""
    nulls = ("order_id", "customer_id", "status", "currency", "amount", "created_at")
    return [
        gxe.ExpectTableRowCountToBeBetween(min_value=1),
        *(gxe.ExpectColumnValuesToNotBeNull(column=column) for column in nulls),
        gxe.ExpectColumnValuesToBeBetween(column="amount", min_value=0, max_value=100_000),
        gxe.ExpectColumnValuesToBeBetween(column="quantity", min_value=1, max_value=1000),
        gxe.ExpectColumnValuesToBeBetween(column="discount", min_value=0, max_value=1),
        gxe.ExpectColumnValuesToBeInSet(
            column="status", value_set=["new", "paid", "shipped", "delivered", "returned"]
        ),
        gxe.ExpectColumnValuesToBeInSet(column="currency", value_set=["EUR", "USD", "GBP"]),
        gxe.ExpectColumnValuesToMatchRegex(column="email", regex=r"^[^@\s]+@[^@\s]+\.[a-z]+$"),
        gxe.ExpectColumnValuesToMatchRegex(column="sku", regex="^[A-Z]{3}-[0-9]{5}$"),
        gxe.ExpectColumnPairValuesAToBeGreaterThanB(
            column_A="shipped_at", column_B="created_at", or_equal=True
        ),
        gxe.ExpectColumnValuesToBeUnique(column="order_id"),
        gxe.ExpectCompoundColumnsToBeUnique(column_list=["customer_id", "line_id"]),
        gxe.ExpectColumnMeanToBeBetween(column="amount", min_value=1, max_value=100_000),
        gxe.ExpectColumnMaxToBeBetween(column="order_id", min_value=0),
    ]


def main(file: str, customers: str, times: int) -> None:
    spark = (
        SparkSession.builder.master("local[*]").config("spark.driver.memory", "6g").getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    context = gx.get_context(mode="ephemeral")
    asset = context.data_sources.add_spark("spark").add_dataframe_asset("orders")
    whole = asset.add_batch_definition_whole_dataframe("whole")
    made = context.suites.add(gx.ExpectationSuite(name="suite", expectations=suite()))
    seconds = []
    stat = Path(f"/proc/{spark._jvm.java.lang.ProcessHandle.current().pid()}/stat")

    def busy() -> float:
        fields = stat.read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    for _ in range(times + 1):  # once to get warm, as we do
        rows = spark.read.parquet(file)
        started, before = time.perf_counter(), busy()
        batch = whole.get_batch({"dataframe": rows})
        batch.validate(made, result_format="BOOLEAN_ONLY")
        dimension = spark.read.parquet(customers)
        rows.join(dimension, "customer_id", "left_anti").count()
        seconds.append((time.perf_counter() - started, busy() - before))
    print(json.dumps(seconds[1:]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
