"""Errors as Spark really raises them get their code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from goldsmith.healing.classify import classify


def _with_python(spark: SparkSession, name: str) -> None:
    # Functions inside a function travel to the worker by value.
    def fails(value):  # type: ignore[no-untyped-def]
        raise KeyError("country")

    def eats(value):  # type: ignore[no-untyped-def]
        raise MemoryError

    def dies(value):  # type: ignore[no-untyped-def]
        os._exit(9)

    spark.range(2).select(F.udf(locals()[name], "string")("id")).collect()


ERRORS = {
    "ColumnUnknown": lambda s, _: s.sql("SELECT nothing FROM range(1)").collect(),
    "TableUnknown": lambda s, _: s.sql("SELECT * FROM nobody").collect(),
    "FunctionUnknown": lambda s, _: s.sql("SELECT nosuch(1)").collect(),
    "SqlWrong": lambda s, _: s.sql("SELECT 1 FORM range(1)").collect(),
    "TypesDoNotMatch": lambda s, _: s.sql("SELECT 1 + array(1)").collect(),
    "ValueDoesNotFit": lambda s, _: s.sql("SELECT CAST('x' AS INT)").collect(),
    "DivideByZero": lambda s, _: s.sql("SELECT id / (id - id) FROM range(1)").collect(),
    "NullNotAllowed": lambda s, _: _null(s),
    "FileVanished": lambda s, f: s.read.json(f"file:{f}/nothing.json").collect(),
    "FileTruncated": lambda s, f: (
        s.read.schema("id int").parquet(f"file:{f}/cut.parquet").collect()
    ),
    "RecordMalformed": lambda s, f: (
        s.read.schema("id int").option("mode", "FAILFAST").json(f"file:{f}/odd.json").collect()
    ),
    "UserCodeFailed": lambda s, _: _with_python(s, "fails"),
    "PythonWorkerOutOfMemory": lambda s, _: _with_python(s, "eats"),
    "PythonWorkerLost": lambda s, _: _with_python(s, "dies"),
    "DuplicateRows": lambda s, _: _merge_twice(s),
    "CommitConflict": lambda s, _: _fast_forward(s),
}


def _null(spark: SparkSession) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.errors")
    spark.sql("CREATE OR REPLACE TABLE lake.errors.strict (id INT NOT NULL) USING iceberg")
    spark.sql("INSERT INTO lake.errors.strict SELECT IF(id = 0, NULL, 1) FROM range(1)")


def _merge_twice(spark: SparkSession) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.errors")
    spark.sql("CREATE OR REPLACE TABLE lake.errors.merged USING iceberg AS SELECT 1 AS id, 1 AS n")
    spark.sql(
        "MERGE INTO lake.errors.merged t USING (SELECT 1 AS id, explode(array(2, 3)) AS n) s"
        " ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = s.n"
    )


def _fast_forward(spark: SparkSession) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.errors")
    spark.sql("CREATE OR REPLACE TABLE lake.errors.raced USING iceberg AS SELECT 1 AS id")
    spark.sql("ALTER TABLE lake.errors.raced CREATE BRANCH aside")
    spark.sql("INSERT INTO lake.errors.raced.branch_aside VALUES (2)")
    spark.sql("INSERT INTO lake.errors.raced VALUES (3)")
    spark.sql("CALL lake.system.fast_forward('errors.raced', 'main', 'aside')")


@pytest.mark.parametrize("code", ERRORS)
def test_an_error_of_spark_gets_its_code(code: str, spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and not much more")
    (tmp_path / "odd.json").write_text("this is no JSON\n")
    with pytest.raises(Exception) as raised:  # noqa: PT011 - which one is what is tested
        ERRORS[code](spark, tmp_path)
    assert classify(raised.value).code.name == code, str(raised.value)[:500]
