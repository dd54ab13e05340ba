"""Raw to gold as one would write it by hand: the same reads, writes and Iceberg tables."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PROPERTIES = {"format-version": "2", "write.parquet.compression-codec": "zstd"}


def by_hand(spark: SparkSession, name: str, raw: str, mode: str) -> None:
    """Bronze is appended, silver written as `mode` says, gold overwritten."""
    from pyspark.sql import functions as F

    bronze = spark.read.parquet(raw).select(
        "*",
        F.input_file_name().alias("_source_file"),
        F.current_timestamp().alias("_ingested_at"),
        F.lit(str(uuid.uuid4())).alias("_run_id"),
    )
    create(bronze, f"lake.bronze.{name}")
    silver(spark, name, mode)
    gold = spark.table(f"lake.silver.{name}").groupBy(F.col("at").cast("date").alias("day"))
    summed = gold.agg(F.count("*").alias("orders"), F.sum("amount").alias("amount"))
    create(summed, f"lake.gold.{name}")


def silver(spark: SparkSession, name: str, mode: str) -> None:
    table = f"lake.silver.{name}"
    new = f"SELECT order_id, user_id, amount, at FROM lake.bronze.{name} WHERE amount > 0"
    if mode in ("append", "overwrite"):
        create(spark.sql(new), table)
    elif mode == "merge":
        query = (
            "SELECT order_id, user_id, amount, at FROM (SELECT *, row_number() OVER "
            f"(PARTITION BY order_id ORDER BY at DESC) AS n FROM ({new})) WHERE n = 1"
        )
        make(spark.sql(query), table)
        spark.sql(
            f"MERGE INTO {table} t USING ({query}) s ON t.order_id = s.order_id "
            "WHEN MATCHED AND s.at >= t.at THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
    else:
        query = (
            "SELECT order_id, user_id, amount, at FROM (SELECT *, row_number() OVER "
            f"(PARTITION BY order_id, at ORDER BY at DESC) AS n FROM ({new})) WHERE n = 1"
        )
        valid = (
            "SELECT *, at AS _valid_from, lead(at) OVER (PARTITION BY order_id ORDER BY at) "
            "AS _valid_to, lead(at) OVER (PARTITION BY order_id ORDER BY at) IS NULL "
            f"AS _is_current FROM ({query})"
        )
        make(spark.sql(valid), table)
        spark.sql(
            f"MERGE INTO {table} t USING ({valid}) s "
            "ON t.order_id = s.order_id AND t._valid_from = s._valid_from "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )


def create(rows: DataFrame, table: str) -> None:
    make(rows, table)
    rows.writeTo(table).append()


def make(rows: DataFrame, table: str) -> None:
    """An empty Iceberg table with these columns."""
    writer = rows.limit(0).writeTo(table).using("iceberg")
    for key, value in _PROPERTIES.items():
        writer = writer.tableProperty(key, value)
    writer.createOrReplace()
