"""What is wrong with files, said as an error with a code."""

from __future__ import annotations

import bz2
import gzip

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from source_folder import Drop, plain

from goldsmith.engine.read.errors import (
    BadSchema,
    DuplicateColumns,
    FileDoesNotFit,
    FilesDisagree,
    FileTruncated,
    FileUnreadable,
    FileVanished,
    FormatUnknown,
    RecordMalformed,
    SeparatorUnknown,
    as_reading_error,
)
from goldsmith.engine.read.files import read_files

CSV = "id,name\n1,ann\n2,ben\n"


def test_columns_of_one_name_are_refused(drop: Drop) -> None:
    drop.put("a.csv", "id,name,ID\n1,x,2\n")
    with pytest.raises(DuplicateColumns, match=r"a\.csv .*: id, ID"):
        drop.read()
    drop.put("a.jsonl", '{"user": {"Name": 1, "name": 2}}\n')
    with pytest.raises(DuplicateColumns, match="name"):
        read_files(
            drop.spark,
            drop.source(file_format="jsonl"),
            drop.files()[1:],
            drop.storage,
            schema=None,
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
            read_files(drop.spark, source, files, drop.storage, schema=schema)
    with pytest.raises(FileVanished):
        read_files(drop.spark, drop.source(file_format="parquet"), files, drop.storage, schema=None)


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


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.csv", "id,paid\n1,2\n2,many\n", "paid is no INT"),
        ("a.csv", 'id,paid\n1,"2\n3,4\n', "a quote in it is not closed, or stands inside a value"),
        ("a.jsonl", '{"id": 1, "paid": 2}\n{"id": 2, "paid": "many"}\n', "paid is no INT"),
    ],
)
def test_the_first_bad_value_of_failfast_says_file_column_and_record(
    drop: Drop, name: str, text: str, reason: str
) -> None:
    drop.put(name, text)
    read = drop.read("id INT, paid INT", mode="failfast")
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever Spark raises
        read.rows.collect()
    known = as_reading_error(caught.value, drop.files())
    assert isinstance(known, RecordMalformed)
    assert (known.file, known.reason) == (f"{drop.location}{name}", reason)
    assert known.text in text


def test_nanoseconds_inside_a_column_are_refused_where_times_are_asked_for(drop: Drop) -> None:
    import pyarrow.parquet as pq

    kind = pa.struct([("at", pa.timestamp("ns"))])
    table = pa.table({"id": [1], "s": pa.array([{"at": 1_001}], kind)})
    pq.write_table(table, drop.folder / "a.parquet")
    for schema in (None, "s STRUCT<at: TIMESTAMP_NTZ>"):
        with pytest.raises(FileDoesNotFit, match=r"s\.at has nanoseconds") as caught:
            drop.read(schema)
        assert "microseconds" in caught.value.hint
    assert plain(drop.read("id BIGINT").rows) == [1]


@pytest.mark.parametrize("format_", ["parquet", "orc", "avro"])
def test_a_file_without_any_declared_column_is_refused(drop: Drop, format_: str) -> None:
    drop.put_rows(f"a.{format_}", drop.spark.range(3).selectExpr("id", "'x' AS name"), format_)
    schema = "code STRING, amount DOUBLE"
    with pytest.raises(BadSchema, match=r"none of its columns is in .*, which has id, name") as bad:
        drop.read(schema, declared_schema=schema)
    assert "s3_path" in bad.value.hint
    schema = "ID BIGINT, code STRING"
    read = drop.read(schema, declared_schema=schema)
    assert plain(read.rows) == [(0, None), (1, None), (2, None)]


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(pa.array([1], pa.time64("us")), id="time"),
        pytest.param(pa.array([1], pa.decimal256(50, 2)), id="decimal of 50 digits"),
        pytest.param(pa.array([1.0], pa.float32()).cast(pa.float16()), id="half a float"),
    ],
)
def test_types_that_spark_does_not_have_are_refused_with_a_hint(
    drop: Drop, column: pa.Array
) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": [1], "x": column}), drop.folder / "a.parquet")
    with pytest.raises(FileDoesNotFit, match=r"a\.parquet") as caught:
        drop.read().rows.collect()
    assert "declare a schema without it" in caught.value.hint
    assert plain(drop.read("id BIGINT").rows) == [1]


@pytest.mark.parametrize("names", ["ſ,s", "İ,i", "\u212a,k", "ẞ,ß"])
def test_headers_that_are_one_name_to_java_are_refused(drop: Drop, names: str) -> None:
    drop.put("a.csv", f"{names}\n1,2\n")
    with pytest.raises(DuplicateColumns):
        drop.read()


def test_a_separator_may_be_written_as_an_escape(drop: Drop) -> None:
    drop.put("a.csv", "a\x01b\n1\x012\n")
    assert plain(drop.read(sep="\\u0001").rows) == [("1", "2")]
    with pytest.raises(SeparatorUnknown, match="u00"):
        drop.read(sep="\\u00")


def test_a_value_longer_than_the_row_allows_is_an_error_with_a_code(drop: Drop) -> None:
    drop.put("a.csv", "a,b\n1,22222222222222222222\n")
    with pytest.raises(Exception, match=r"maxCharsPerColumn|maximum number") as caught:
        drop.read(maxCharsPerColumn=10).rows.collect()
    known = as_reading_error(caught.value, drop.files())
    assert isinstance(known, FileUnreadable)
    assert "maxCharsPerColumn" in str(known)
