"""Files as rows: formats, headers, compression, addresses, and what is wrong with files."""

from __future__ import annotations

import bz2
import gzip
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from drop import Drop, halves, plain
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from goldsmith.credentials import Secrets
from goldsmith.engine.readers.errors import (
    BadSchema,
    DuplicateColumns,
    FileDoesNotFit,
    FilesDisagree,
    FileTruncated,
    FileVanished,
    FormatUnknown,
    as_reading_error,
)
from goldsmith.engine.readers.files import read_files
from goldsmith.planning.files import list_files
from goldsmith.planning.places import Places
from goldsmith.settings.settings import Settings

CSV = "id,name\n1,ann\n2,ben\n"


def test_csv_has_a_header_and_is_texts(drop: Drop) -> None:
    drop.put("a.csv", CSV)
    read = drop.read()
    assert read.schema.simpleString() == "struct<id:string,name:string>"
    assert read.origin == "inferred"
    assert plain(read.rows) == [("1", "ann"), ("2", "ben")]
    assert plain(read.malformed) == []
    assert read.rows.columns == ["id", "name", "_source_file"]


def test_csv_is_read_in_a_schema_or_in_inferred_types_when_asked(drop: Drop) -> None:
    drop.put("a.csv", CSV)
    assert plain(drop.read("id BIGINT, name STRING").rows) == [(1, "ann"), (2, "ben")]
    assert drop.read(inferSchema=True).schema.simpleString() == "struct<id:int,name:string>"


def test_tsv_is_separated_by_tabs(drop: Drop) -> None:
    drop.put("a.tsv", "id\tname\n1\tann, or so\n")
    assert plain(drop.read().rows) == [("1", "ann, or so")]


@pytest.mark.parametrize(
    ("text", "options", "rows"),
    [
        pytest.param(
            "1;x\n2;y\n", {"sep": ";", "header": False}, [("1", "x"), ("2", "y")], id="no header"
        ),
        pytest.param("a\\tb\n", {"sep": "\\t", "header": False}, ["a\\tb"], id="an escaped tab"),
        pytest.param("a||b\n1||x\n", {"sep": "||"}, [("1", "x")], id="a long separator"),
        pytest.param("# by hand\n\na,b\n1,x\n", {"comment": "#"}, [("1", "x")], id="comments"),
        pytest.param('"a","b,c"\n1,"x, y"\n', {}, [("1", "x, y")], id="quoted names"),
        pytest.param("a,b\r\n1,x\r\n", {}, [("1", "x")], id="CRLF"),
        pytest.param("\ufeffa,b\r\n1,x\r\n", {}, [("1", "x")], id="a byte order mark"),
        pytest.param('a,b\n1,"x\ny"\n', {"multiLine": True}, [("1", "x\ny")], id="line breaks"),
        pytest.param('a,"b\nc"\n1,x\n', {"multiLine": True}, [("1", "x")], id="one in the header"),
    ],
)
def test_csv_as_it_comes(
    drop: Drop, text: str, options: dict[str, object], rows: list[object]
) -> None:
    drop.put("a.csv", text)
    assert halves(drop.read(**options)) == (rows, [])


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16"])
def test_csv_in_another_encoding(drop: Drop, encoding: str) -> None:
    drop.put("a.csv", "id,größe\n1,é\n".encode(encoding))
    read = drop.read(encoding=encoding)
    assert read.schema.names == ["id", "größe"]
    assert plain(read.rows) == [("1", "é")]


def test_each_csv_file_goes_by_its_own_header(drop: Drop) -> None:
    drop.put("1.csv", "id,name\n1,ann\n")
    drop.put("2.csv", "name,id,NEW\nben,2,x\n")
    drop.put("3.csv", "ID,name\n3,cid\n")
    read = drop.read()
    assert read.schema.names == ["id", "name", "NEW"]
    assert plain(read.rows) == [("1", "ann", None), ("2", "ben", "x"), ("3", "cid", None)]


def test_csv_without_headers_is_numbered_and_widths_may_differ(drop: Drop) -> None:
    drop.put("1.csv", "1,ann\n")
    drop.put("2.csv", "2,ben,x\n")
    read = drop.read(header=False)
    assert read.schema.names == ["_c0", "_c1", "_c2"]
    assert plain(read.rows) == [("1", "ann", None), ("2", "ben", "x")]
    named = drop.read("id INT, name STRING", header=False)
    assert halves(named) == ([(1, "ann")], ["2,ben,x"])


def test_records_that_do_not_fit_are_kept_with_text_and_reason(drop: Drop) -> None:
    drop.put("a.csv", "id,amount,note\n1,1.5,x\n2\n3,many,y\n4,2,z,more\n")
    read = drop.read("id BIGINT, amount DOUBLE, note STRING")
    assert plain(read.rows) == [(1, 1.5, "x")]
    assert plain(read.malformed, "_text", "_reason") == [
        ("2", "it has not 3 values, one for each column"),
        ("3,many,y", "amount is no DOUBLE"),
        ("4,2,z,more", "it has not 3 values, one for each column"),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "id,amount\n1,1.5\n2,many\nx,3\n"),
        ("a.jsonl", '{"id": 1, "amount": 1.5}\n{"id": 2, "amount": "many"}\n{"id": \n'),
        ("a.jsonl", '[{"id": 1, "amount": 1.5}]\n[{"id": 2, "amount": "many"}]\n[{"id": \n'),
    ],
)
def test_good_and_malformed_are_all_records_whatever_is_asked_of_them(
    drop: Drop, name: str, text: str
) -> None:
    drop.put(name, text)
    read = drop.read("id BIGINT, amount DOUBLE")
    assert read.malformed is not None
    # A query for one column, for none, and for the text alone: Spark would parse less.
    assert plain(read.rows, "id") == [1]
    assert read.rows.count() == 1
    assert read.malformed.count() == 2
    assert read.malformed.select("_text").count() == 2
    bad = F.count(F.when(read.is_malformed, 1))
    assert tuple(read.all_rows.agg(bad, F.count("*")).head() or ()) == (2, 3)


def test_good_rows_are_written_and_malformed_ones_counted_in_one_pass(drop: Drop) -> None:
    from pyspark.sql import Observation

    drop.put("a.jsonl", '{"id": 1}\n{"id": 2}\nbroken\n')
    read = drop.read()
    seen = Observation()
    counted = F.count(F.when(read.is_malformed, 1)).alias("malformed")
    watched = read.all_rows.observe(seen, counted).where(~read.is_malformed)
    assert [row["id"] for row in watched.collect()] == [1, 2]
    assert seen.get == {"malformed": 1}


def test_jsonl_is_a_record_a_line(drop: Drop) -> None:
    drop.put(
        "a.jsonl", '\ufeff{"id": 1, "user": {"name": "ann", "tags": ["x"]}}\r\n\r\n{"id": 2}\r\n'
    )
    read = drop.read()
    assert plain(read.rows, "id", "user.name", "user.tags") == [(1, "ann", ["x"]), (2, None, None)]
    assert plain(read.malformed) == []


def test_json_records_that_cannot_be_parsed_are_kept(drop: Drop) -> None:
    lines = [
        '{"id": 1, "at": "2026-01-01T00:00:00Z"}',
        '{"id": 2',
        '{"id": "x"}',
        "7",
        '{"at": "no"}',
    ]
    drop.put("a.jsonl", "\n".join(lines))
    read = drop.read("id BIGINT, at TIMESTAMP")
    assert plain(read.rows, "id") == [1]
    assert plain(read.malformed, "_text", "_reason") == [
        ("7", "a value in it does not fit the type of its column"),
        ('{"at": "no"}', "at is no TIMESTAMP"),
        ('{"id": "x"}', "id is no BIGINT"),
        ('{"id": 2', "it is not valid JSON"),
    ]


def test_files_of_nothing_but_garbage_are_all_malformed(drop: Drop) -> None:
    drop.put("a.jsonl", "one\ntwo\n")
    read = drop.read()
    assert read.schema.names == []
    assert read.rows.count() == 0
    assert plain(read.malformed, "_text") == ["one", "two"]


def test_json_is_a_document_or_an_array_of_records(drop: Drop) -> None:
    drop.put("1.json", '{\n  "id": 1,\n  "paid": 12345678901234567.89\n}\n')
    drop.put("2.json", '[\n {"id": 2},\n {"id": 3}\n]')
    drop.put("3.json", "\ufeff[]")
    drop.put("4.json", "  \n")
    read = drop.read("id BIGINT, paid DECIMAL(30, 2)")
    good, texts = halves(read)
    assert good == [(1, Decimal("12345678901234567.89")), (2, None), (3, None)]
    assert texts == []


def test_lines_in_a_file_named_json_are_all_read(drop: Drop) -> None:
    # Spark's reader of documents takes the first value and is silent about the rest.
    drop.put("a.json", '{"id": 1}\n{"id": 2}\n')
    drop.put("b.json", '[{"id": 3}, {"id": 4}]\n[{"id": 5}]\n')
    assert halves(drop.read()) == ([1, 2, 3, 4, 5], [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"id": 1}{"id": 2}\n'),
        ("a.json", '{\n"id": 1\n}\n{\n"id": 2\n}'),
        ("a.json", '[{"id": 1}] and more'),
    ],
)
def test_values_that_follow_a_value_are_not_passed_over(drop: Drop, name: str, text: str) -> None:
    drop.put(name, text)
    good, texts = halves(drop.read("id BIGINT"))
    assert good == []
    assert "".join(texts).count('"id"') == text.count('"id"')


def test_a_document_stands_or_falls_as_a_whole_and_is_kept_once(drop: Drop) -> None:
    document = '[{"id": 1},\n{"id": "x"},\n{"id": 3}]'
    drop.put("a.json", document)
    drop.put("b.json", '{\n"id": 4}')
    read = drop.read("id BIGINT")
    assert plain(read.rows) == [4]
    assert plain(read.malformed, "_text", "_reason") == [
        (document, "a value in it does not fit the type of its column")
    ]


def test_nested_json_of_many_files_is_one_schema(drop: Drop) -> None:
    drop.put("1.jsonl", '{"id": 1, "user": {"name": "ann"}}\n')
    drop.put("2.jsonl", '{"user": {"age": 7}, "id": 2.5}\n')
    assert drop.infer().simpleString() == "struct<id:double,user:struct<age:bigint,name:string>>"


def test_text_is_a_line_a_row(drop: Drop) -> None:
    drop.put("a.log", "one\r\n\ntwo\n")
    assert plain(drop.read().rows, "value") == ["", "one", "two"]
    assert plain(drop.read("line STRING").rows, "line") == ["", "one", "two"]
    assert drop.read().malformed is None
    with pytest.raises(BadSchema):
        drop.read("a STRING, b STRING")


@pytest.mark.parametrize("format_", ["parquet", "orc", "avro"])
def test_files_with_a_schema_of_their_own(drop: Drop, spark: SparkSession, format_: str) -> None:
    one = spark.sql("SELECT CAST(1 AS INT) AS id, 'ann' AS name")
    two = spark.sql("SELECT CAST(5000000000 AS BIGINT) AS id, 2.5D AS paid")
    drop.put_rows(f"1.{format_}", one, format_)
    drop.put_rows(f"2.{format_}", two, format_)
    read = drop.read()
    assert read.schema.simpleString() == "struct<id:bigint,name:string,paid:double>"
    assert plain(read.rows) == [(1, "ann", None), (5000000000, None, 2.5)]
    assert plain(read.rows, "_source_file") == [file.path for file in drop.files()]
    assert read.malformed is None


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


@pytest.mark.parametrize("ending", ["gz", "bz2", "zst", "snappy", "lz4"])
def test_compressed_files_are_looked_through(drop: Drop, spark: SparkSession, ending: str) -> None:
    if ending in ("snappy", "lz4"):
        lines = spark.createDataFrame([(line,) for line in CSV.split()], "value STRING")
        aside = drop.folder.parent / f"aside-{ending}"
        lines.coalesce(1).write.option("compression", ending).text(str(aside))
        content = next(aside.glob(f"part-*.{ending}")).read_bytes()
    else:
        pack = {
            "gz": gzip.compress,
            "bz2": bz2.compress,
            "zst": lambda text: pa.compress(text, codec="zstd", asbytes=True),
        }[ending]
        content = pack(CSV.encode())
    drop.put(f"a.csv.{ending}", content)
    assert plain(drop.read().rows) == [("1", "ann"), ("2", "ben")]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.json", "a.txt"])
def test_files_without_a_byte_hold_no_records(drop: Drop, name: str) -> None:
    drop.put(name, b"")
    read = drop.read()
    assert read.rows.count() == 0
    assert read.malformed is None
    assert drop.read("value STRING").rows.columns == ["value", "_source_file"]


def test_empty_files_and_bare_headers_among_others(drop: Drop) -> None:
    drop.put("1.csv", CSV)
    drop.put("2.csv", b"")
    drop.put("3.csv", "name,id\n")
    drop.put("4.csv", "\n\n")
    drop.put("5.csv.gz", gzip.compress(b""))
    assert plain(drop.read().rows) == [("1", "ann"), ("2", "ben")]


def test_no_files_are_no_rows(drop: Drop) -> None:
    assert drop.read("id BIGINT").rows.collect() == []
    assert drop.infer().names == []


NAMES = ["a b.csv", "a+b.csv", "a%20b.csv", "é ü.csv", "q?[1]{z}*.csv", "x#y;&='.csv", "日本.csv"]


def test_source_file_is_the_catalogs_address_whatever_the_name(drop: Drop) -> None:
    for name in NAMES:
        drop.put(f"day=1/{name}", CSV)
    found = plain(drop.read().rows, "_source_file")
    assert found == sorted([drop.location + f"day=1/{name}" for name in NAMES] * 2, key=repr)


def test_source_file_of_every_format_and_of_malformed_records(drop: Drop) -> None:
    drop.put("1 a.json", '{\n"id": 1}')
    drop.put("2 a.json", '{"id": 2}\n{"id"\n')
    read = drop.read()
    assert plain(read.rows, "id", "_source_file") == [
        (1, f"{drop.location}1 a.json"),
        (2, f"{drop.location}2 a.json"),
    ]
    assert plain(read.malformed, "_source_file") == [f"{drop.location}2 a.json"]


def test_columns_in_the_names_of_folders_are_read_when_asked(drop: Drop) -> None:
    drop.put("day=1/a.jsonl", '{"id": 1}\n')
    drop.put("day=2/a.jsonl", '{"id": 2}\n')
    assert plain(drop.read().rows) == [1, 2]
    assert plain(drop.read(basePath=drop.location).rows) == [(1, 1), (2, 2)]


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


def test_a_header_without_a_column_of_the_schema_is_none(drop: Drop) -> None:
    drop.put("a.csv", "1,ann\n2,ben\n")
    with pytest.raises(BadSchema) as caught:
        drop.read("id BIGINT, name STRING")
    assert "options.header" in caught.value.hint
    assert plain(drop.read("id BIGINT, name STRING", enforceSchema=True).rows) == [(2, "ben")]


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


def test_options_have_sparks_names_in_any_case(drop: Drop) -> None:
    drop.put("a.csv", "1;-\n")
    read = drop.read("id INT, name STRING", HEADER="False", Delimiter=";", nullvalue="-")
    assert plain(read.rows) == [(1, None)]


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


def test_one_file_is_a_source_too(drop: Drop) -> None:
    drop.put("a.csv", CSV)
    only = f"{drop.location}a.csv"
    read = read_files(
        drop.spark, drop.source(), list_files(only, drop.places), drop.places, schema=None
    )
    assert plain(read.rows, "_source_file") == [only, only]


def test_nothing_is_left_open(drop: Drop) -> None:
    file = drop.put("a.csv.gz", gzip.compress(CSV.encode()))
    drop.read()
    held = [link.resolve() for link in Path("/proc/self/fd").iterdir() if link.exists()]
    assert file.resolve() not in held


def test_source_file_where_bindings_lie_inside_each_other(
    drop: Drop, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("bound")
    (folder / "goldsmith.toml").write_text(
        '[storage.bind]\n"s3://a/" = "in"\n"s3://b/deep/" = "in/b"\n"s3://c/" = "in/b/c d"\n'
    )
    settings = Settings.load({}, project=folder, environment=None, cwd=folder)
    bound = Places(settings, Secrets({}))
    names = ["s3://a/x.csv", "s3://b/deep/x y.csv", "s3://c/x.csv"]
    for name in names:
        file = Path(bound.address(name))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("id\n1\n")
    files = [file for name in names for file in list_files(name, bound)]
    read = read_files(drop.spark, drop.source(), files, bound, schema=None)
    assert plain(read.rows, "_source_file") == names
