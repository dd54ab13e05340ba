"""Files as rows: formats, compression, addresses, and the two halves of what is read."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from source_folder import Drop, halves, plain

from goldsmith.credentials import Secrets
from goldsmith.engine.read.errors import BadSchema
from goldsmith.engine.read.files import read_files
from goldsmith.settings.settings import Settings
from goldsmith.storage.files import FileNameUnreadable, list_files
from goldsmith.storage.storage import Storage

CSV = "id,name\n1,ann\n2,ben\n"


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


def test_text_is_a_line_a_row(drop: Drop) -> None:
    drop.put("a.log", "one\r\n\ntwo\n")
    assert plain(drop.read().rows, "value") == ["", "one", "two"]
    assert plain(drop.read("line STRING").rows, "line") == ["", "one", "two"]
    assert drop.read().malformed is None
    with pytest.raises(BadSchema):
        drop.read("a STRING, b STRING")


@pytest.mark.parametrize("format_", ["parquet", "orc", "avro"])
def test_files_with_a_schema_of_their_own(drop: Drop, spark: SparkSession, format_: str) -> None:
    first = spark.sql("SELECT CAST(1 AS INT) AS id, 'ann' AS name")
    second = spark.sql("SELECT CAST(5000000000 AS BIGINT) AS id, 2.5D AS paid")
    drop.put_rows(f"1.{format_}", first, format_)
    drop.put_rows(f"2.{format_}", second, format_)
    read = drop.read()
    assert read.schema.simpleString() == "struct<id:bigint,name:string,paid:double>"
    assert plain(read.rows) == [(1, "ann", None), (5000000000, None, 2.5)]
    assert plain(read.rows, "_source_file") == [file.path for file in drop.files()]
    assert read.malformed is None


@pytest.mark.parametrize("ending", ["gz", "bz2", "zst", "snappy", "lz4"])
def test_compressed_files_are_looked_through(drop: Drop, spark: SparkSession, ending: str) -> None:
    if ending in ("snappy", "lz4"):
        lines = spark.createDataFrame([(line,) for line in CSV.split()], "value STRING")
        temporary = drop.folder.parent / f"aside-{ending}"
        lines.coalesce(1).write.option("compression", ending).text(str(temporary))
        content = next(temporary.glob(f"part-*.{ending}")).read_bytes()
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
NAMES += ["~^@!$(),.csv", "%.csv", "-.csv"]


def test_source_file_is_the_catalogs_address_whatever_the_name(drop: Drop) -> None:
    for name in NAMES:
        drop.put(f"day=1/{name}", CSV)
    found = plain(drop.read().rows, "_source_file")
    assert found == sorted([drop.location + f"day=1/{name}" for name in NAMES] * 2, key=repr)


@pytest.mark.parametrize("name", ["10:30.csv", "2026-01-01T10:30:00 [x].csv", "a:b/c.csv"])
def test_a_colon_in_a_name_is_refused_in_a_folder(drop: Drop, name: str) -> None:
    drop.put("a.csv", CSV)
    drop.put(name, CSV)
    with pytest.raises(FileNameUnreadable, match=r"with a colon, which Hadoop cannot open"):
        drop.read()


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
    typed = drop.read("id BIGINT, Day STRING", basePath=drop.location).rows
    assert (typed.columns[:2], plain(typed)) == (["id", "Day"], [(1, "1"), (2, "2")])


def test_columns_in_the_names_of_folders_have_the_types_that_were_declared(drop: Drop) -> None:
    drop.put("hour=00/a.jsonl", '{"id": 1}\n')
    drop.put("hour=07/a.jsonl", '{"id": 2, "hour": {"of": "day"}}\n')
    read = drop.read("id BIGINT, hour STRING", basePath=drop.location)
    assert plain(read.rows) == [(1, "00"), (2, "07")]
    assert plain(drop.read("hour STRING", basePath=drop.location).rows) == ["00", "07"]


def test_what_a_folder_says_is_not_read_of_its_records(drop: Drop) -> None:
    drop.put("day=1/a.jsonl", '{"id": 1, "day": "Mon"}\n')
    assert halves(drop.read("id BIGINT, day INT", basePath=drop.location)) == ([(1, 1)], [])


def test_folders_may_have_any_name(drop: Drop) -> None:
    drop.put("value=7/a.jsonl", '{"id": 1}\n')
    assert plain(drop.read("id BIGINT", basePath=drop.location).rows) == [(1, 7)]


def test_folders_may_have_names_of_ours(drop: Drop) -> None:
    drop.put("text=1/record=x/a.json", '{"id": 1}')
    drop.put("text=1/record=y/b.json", '{"id":\n 2}')
    assert plain(drop.read(basePath=drop.location).rows) == [(1, 1, "x"), (2, 1, "y")]


def test_one_file_is_a_source_too(drop: Drop) -> None:
    drop.put("a.csv", CSV)
    only = f"{drop.location}a.csv"
    read = read_files(
        drop.spark, drop.source(), list_files(only, drop.storage), drop.storage, schema=None
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
    bound = Storage(settings, Secrets({}))
    names = ["s3://a/x.csv", "s3://b/deep/x y.csv", "s3://c/x.csv"]
    for name in names:
        file = Path(bound.address(name))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("id\n1\n")
    files = [file for name in names for file in list_files(name, bound)]
    read = read_files(drop.spark, drop.source(), files, bound, schema=None)
    assert plain(read.rows, "_source_file") == names


def test_nanoseconds_as_pandas_writes_them_are_read_as_microseconds(drop: Drop) -> None:
    import pyarrow.parquet as pq

    instants = [1_700_000_000_123_456_000, -1_000, None]
    for index, unit in enumerate(["ns", "ns", "us"]):
        scale = 1 if unit == "ns" else 1000
        values = [None if value is None else value // scale for value in instants]
        table = pa.table(
            {
                "naive": pa.array(values, pa.timestamp(unit)),
                "at": pa.array(values, pa.timestamp(unit, tz="UTC")),
                "n": pa.array([index] * 3, pa.int64()),
            }
        )
        pq.write_table(table, drop.folder / f"{index}.parquet")
    read = drop.read()
    kinds = "struct<naive:timestamp_ntz,at:timestamp,n:bigint>"
    assert (read.schema.simpleString(), drop.infer().simpleString()) == (kinds, kinds)
    text = read.rows.selectExpr("n", "CAST(naive AS STRING) AS naive", "CAST(at AS STRING) AS at")
    first, second = "2023-11-14 22:13:20.123456", "1969-12-31 23:59:59.999999"
    expected = [(n, moment, moment) for n in range(3) for moment in (first, second, None)]
    assert plain(text) == sorted(expected, key=repr)
    assert plain(drop.read("at TIMESTAMP").rows.where("at IS NULL")) == [None] * 3
    assert plain(drop.read("n BIGINT").rows) == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_a_row_that_would_lose_a_nanosecond_is_malformed(drop: Drop) -> None:
    import pyarrow.parquet as pq

    table = pa.table({"id": [1, 2], "at": pa.array([1_000, 1_001], pa.timestamp("ns"))})
    pq.write_table(table, drop.folder / "a.parquet")
    read = drop.read()
    assert plain(read.rows, "id") == [1]
    assert plain(read.malformed, "_text", "_reason") == [
        ('{"id":2,"at":1001}', "at has nanoseconds, which a TIMESTAMP does not hold")
    ]
