"""What is wrong with files, said as an error with a code."""

from __future__ import annotations

import bz2
import gzip

import pyarrow as pa
import pytest
from drop import Drop, plain
from pyspark.sql import SparkSession

from goldsmith.engine.readers.errors import (
    DuplicateColumns,
    FileDoesNotFit,
    FilesDisagree,
    FileTruncated,
    FileVanished,
    FormatUnknown,
    as_reading_error,
)
from goldsmith.engine.readers.files import read_files

CSV = "id,name\n1,ann\n2,ben\n"


def test_columns_of_one_name_are_refused(drop: Drop) -> None:
    drop.put("a.csv", "id,name,ID\n1,x,2\n")
    with pytest.raises(DuplicateColumns, match=r"a\.csv .*: id, ID"):
        drop.read()
    drop.put("a.jsonl", '{"user": {"Name": 1, "name": 2}}\n')
    with pytest.raises(DuplicateColumns, match="name"):
        read_files(
            drop.spark, drop.source(file_format="jsonl"), drop.files()[1:], drop.places, schema=None
        )


def test_a_column_named_as_ours_is_refused(drop: Drop) -> None:
    drop.put("a.jsonl", '{"_source_file": "x", "id": 1}\n')
    with pytest.raises(DuplicateColumns, match="_source_file"):
        drop.read()
    assert plain(drop.read("id BIGINT").rows) == [1]


def test_the_format_is_told_by_endings_only_where_they_agree(drop: Drop) -> None:
    drop.put("a.csv.gz", gzip.compress(CSV.encode()))
    drop.put("b.CSV", CSV)
    assert drop.read().rows.count() == 4
    drop.put("c.json", "{}")
    with pytest.raises(FormatUnknown, match=r"differently \(csv, json\)"):
        drop.read()
    with pytest.raises(FormatUnknown, match="Did you mean parquet"):
        drop.read(file_format="parqet")


@pytest.mark.parametrize("name", ["a.zip", "a", "a.gz", "a.csv.xz"])
def test_a_name_that_tells_no_format_is_refused(drop: Drop, name: str) -> None:
    drop.put(name, "x")
    with pytest.raises(FormatUnknown):
        drop.read()


def test_files_that_have_nothing_in_common_are_refused(drop: Drop, spark: SparkSession) -> None:
    drop.put_rows("1.parquet", spark.sql("SELECT 1 AS id"), "parquet")
    drop.put_rows("2.parquet", spark.sql("SELECT 'x' AS id"), "parquet")
    with pytest.raises(FilesDisagree, match="'id' as int and string"):
        drop.read()


def test_a_file_in_another_type_than_the_schema_is_refused(drop: Drop, spark: SparkSession) -> None:
    drop.put_rows("1.parquet", spark.sql("SELECT 'x' AS id"), "parquet")
    with pytest.raises(Exception, match="FAILED_READ_FILE") as caught:
        drop.read("id BIGINT").rows.collect()
    known = as_reading_error(caught.value, drop.files())
    assert isinstance(known, FileDoesNotFit)
    assert known.file == drop.files()[0].path


def test_a_file_that_vanishes_is_said_to_have(drop: Drop) -> None:
    gone = drop.put("a b.csv", CSV)
    files, source = drop.files(), drop.source()
    planned = drop.read()
    gone.unlink()
    with pytest.raises(Exception, match="FILE_NOT_EXIST") as caught:
        planned.rows.collect()
    known = as_reading_error(caught.value, files)
    assert isinstance(known, FileVanished)
    assert known.file == f"{drop.location}a b.csv"
    for schema in (None, planned.schema):
        with pytest.raises(FileVanished):
            read_files(drop.spark, source, files, drop.places, schema=schema)
    with pytest.raises(FileVanished):
        read_files(drop.spark, drop.source(file_format="parquet"), files, drop.places, schema=None)


@pytest.mark.parametrize("format_", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("keep", [0.0, 0.6])
def test_a_file_that_is_cut_off_is_said_to_be(
    drop: Drop, spark: SparkSession, format_: str, keep: float
) -> None:
    file = drop.put_rows(f"1.{format_}", spark.range(1000), format_)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * keep)])
    for schema in (None, "id BIGINT"):
        with pytest.raises(Exception) as caught:  # noqa: PT011
            drop.read(schema).rows.collect()
        known = as_reading_error(caught.value, drop.files())
        assert isinstance(known, FileTruncated)
        assert known.file == drop.files()[0].path
        assert known.cause


@pytest.mark.parametrize("ending", ["gz", "bz2", "zst"])
def test_compressed_files_that_are_cut_off_are_said_to_be(drop: Drop, ending: str) -> None:
    text = "".join(f"{number},{number * 7919 % 1000003}\n" for number in range(20000))
    pack = {
        "gz": gzip.compress,
        "bz2": bz2.compress,
        "zst": lambda raw: pa.compress(raw, codec="zstd", asbytes=True),
    }[ending]
    for content in (pack(f"id,x\n{text}".encode())[:-500], b"this was never compressed at all"):
        drop.put(f"a.csv.{ending}", content)
        with pytest.raises(Exception) as caught:  # noqa: PT011
            drop.read().rows.collect()
        assert isinstance(as_reading_error(caught.value, drop.files()), FileTruncated)


def test_other_errors_are_not_about_files(drop: Drop) -> None:
    drop.put("a.csv", CSV)
    assert as_reading_error(ValueError("a.csv is nice"), drop.files()) is None
    with pytest.raises(Exception, match="UNRESOLVED_COLUMN") as caught:
        drop.read().rows.select("nope")
    assert as_reading_error(caught.value, drop.files()) is None
