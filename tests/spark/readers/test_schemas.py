"""Schemas: declared, by ARN, inferred and kept."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from drop import Drop, ddl, plain
from pyspark.sql import SparkSession

from goldsmith.catalog.datasets import Source
from goldsmith.credentials import Secrets
from goldsmith.engine.readers import schemas
from goldsmith.engine.readers.errors import BadSchema, FileVanished, SchemaUnreachable
from goldsmith.engine.readers.files import read_files
from goldsmith.engine.readers.glue import Arn, of_definition
from goldsmith.engine.readers.schemas import merge_inferred
from goldsmith.planning.files import list_files
from goldsmith.planning.places import Places
from goldsmith.settings.settings import Settings
from servers import s3 as s3_server
from servers.s3 import ACCESS_KEY, REGION, S3, SECRET_KEY

ARN = "arn:aws:glue:us-east-1:123456789012:schema/shop/orders"


def said(text: str) -> Source:
    return Source(source_id="orders", declared_schema=text)


def test_a_declared_schema_comes_first(spark: SparkSession, places: Places) -> None:
    source = Source(source_id="orders", declared_schema="id BIGINT NOT NULL", schema_arn=ARN)
    found = schemas.find(source, places)
    assert found is not None
    assert found.origin == "declared_schema"
    assert found.schema == ddl("id BIGINT")
    assert schemas.declared(Source(source_id="orders"), places) is None


def test_a_schema_may_be_declared_as_sparks_json(spark: SparkSession, places: Places) -> None:
    schema = ddl("id BIGINT, at ARRAY<TIMESTAMP>, m MAP<STRING, VARCHAR(3)>")
    assert schemas.declared(said(schema.json()), places) == ddl(
        "id BIGINT, at ARRAY<TIMESTAMP>, m MAP<STRING, STRING>"
    )


@pytest.mark.parametrize(
    ("text", "cause", "hint"),
    [
        pytest.param("id BIGNT", "'BIGNT' is no type", "Did you mean BIGINT?", id="a typing error"),
        pytest.param("id text", "'text' is no type", "Did you mean STRING?", id="another engine's"),
        pytest.param("id bigint name string", "at or near 'name'", "written", id="no comma"),
        pytest.param("bigint", "names no column", "written", id="a type alone"),
        pytest.param('{"type": "struct"}', "fields", "written", id="half a schema in JSON"),
    ],
)
def test_a_schema_that_means_nothing_is_refused_with_what_was_meant(
    spark: SparkSession, places: Places, text: str, cause: str, hint: str
) -> None:
    with pytest.raises(BadSchema, match="declared_schema of source 'orders'") as caught:
        schemas.declared(said(text), places)
    assert cause in str(caught.value)
    assert hint in caught.value.hint


AVRO = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "count", "type": ["null", "int", "long"]},
        {
            "name": "paid",
            "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2},
        },
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
        {"name": "key", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["A", "B"]}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 4}},
        {"name": "either", "type": ["int", "string"]},
        {"name": "tags", "type": {"type": "array", "items": ["null", "string"]}},
        {"name": "sums", "type": {"type": "map", "values": "double"}},
        {
            "name": "buyer",
            "type": {"type": "record", "name": "Who", "fields": [{"name": "x", "type": "float"}]},
        },
        {"name": "payer", "type": ["null", "shop.Who"]},
        {"name": "was", "type": "State"},
    ],
}


def test_avro_is_understood_as_spark_does(drop: Drop, spark: SparkSession) -> None:
    ours = of_definition(json.dumps(AVRO), "AVRO", ARN)
    drop.put_rows("a.avro", spark.range(1), "avro")
    theirs = drop.infer(avroSchema=json.dumps(AVRO))
    assert ours.simpleString() == theirs.simpleString()


JSON_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "price": {"type": ["number", "null"]},
        "ok": {"type": "boolean"},
        "name": {"type": "string", "maxLength": 9},
        "day": {"type": "string", "format": "date"},
        "at": {"type": "string", "format": "date-time"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "buyer": {"$ref": "#/$defs/who"},
        "sums": {"type": "object", "additionalProperties": {"type": "number"}},
        "any": {"type": "object"},
        "free": {},
        "either": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/who"}]},
        "mixed": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        "state": {"enum": ["A", "B"]},
        "both": {"allOf": [{"$ref": "#/$defs/who"}, {"properties": {"y": {"type": "integer"}}}]},
    },
    "$defs": {"who": {"type": "object", "properties": {"x": {"type": "number"}}}},
}
JSON_DDL = """
    id BIGINT, price DOUBLE, ok BOOLEAN, name STRING, day DATE, at TIMESTAMP, tags ARRAY<STRING>,
    buyer STRUCT<x: DOUBLE>, sums MAP<STRING, DOUBLE>, any STRING, free STRING,
    either STRUCT<x: DOUBLE>, mixed STRING, state STRING, both STRUCT<x: DOUBLE, y: BIGINT>
"""


def test_json_schema_is_understood(spark: SparkSession) -> None:
    assert of_definition(json.dumps(JSON_SCHEMA), "JSON", ARN) == ddl(JSON_DDL)


TREE = {"type": "record", "name": "Tree", "fields": [{"name": "up", "type": ["null", "Tree"]}]}


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        pytest.param(json.dumps(TREE), "AVRO", "'Tree' contains itself", id="a tree"),
        pytest.param('"string"', "AVRO", "no record", id="no record"),
        pytest.param(
            '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "lng"}]}',
            "AVRO",
            "'lng' is no type",
            id="a typing error",
        ),
        pytest.param("{", "JSON", "Expecting", id="no JSON"),
        pytest.param('{"type": "integer"}', "JSON", "no object", id="no object"),
        pytest.param(
            '{"properties": {"a": {"$ref": "#/nope"}}}', "JSON", "leads nowhere", id="no such part"
        ),
        pytest.param(
            '{"properties": {"a": {"$ref": "#"}}}', "JSON", "contains itself", id="a circle"
        ),
        pytest.param("message A {}", "PROTOBUF", "Protobuf", id="Protobuf"),
    ],
)
def test_definitions_that_describe_no_columns_are_refused(
    spark: SparkSession, text: str, kind: str, cause: str
) -> None:
    with pytest.raises(BadSchema, match=cause):
        of_definition(text, kind, ARN)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "orders.avsc",
            '{"type": "record", "name": "O", "fields": [{"name": "id", "type": "long"}]}',
        ),
        ("orders.json", '{"properties": {"id": {"type": "integer"}}}'),
        (
            "orders.json",
            '{"type": "record", "name": "O", "fields": [{"name": "id", "type": "long"}]}',
        ),
        ("orders.ddl", "id BIGINT\n"),
    ],
)
def test_a_file_named_as_the_arn_ends_stands_for_it(
    spark: SparkSession, places: Places, name: str, text: str
) -> None:
    file = places.settings.schemas.folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    try:
        for arn in (ARN, "arn:aws:glue:...:schema/orders"):
            found = schemas.find(Source(source_id="orders", schema_arn=arn), places)
            assert found == (ddl("id BIGINT"), str(file))
    finally:
        file.unlink()


def test_an_arn_that_leads_nowhere_here_is_a_warning(
    places: Places, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("goldsmith"), "propagate", True)
    assert schemas.declared(Source(source_id="orders", schema_arn=ARN), places) is None
    assert "it is inferred from the files" in caplog.text


def test_arns_are_taken_apart() -> None:
    assert Arn.of(ARN)[1:] == ("us-east-1", "123456789012", "schema", ("shop", "orders"))
    short = Arn.of("arn:aws:glue:...:schema/user_events")
    assert (short.region, short.account, short.name) == ("", "", "user_events")


@pytest.fixture(scope="module")
def s3() -> Iterator[S3]:
    """Moto's server: S3 and Glue alike."""
    with s3_server.running("company") as server:
        yield server


@pytest.fixture(scope="module")
def aws(s3: S3, tmp_path_factory: pytest.TempPathFactory) -> Places:
    """Places of an environment on that server."""
    folder = tmp_path_factory.mktemp("aws")
    (folder / "goldsmith.toml").write_text(f"""
        [storage]
        endpoint = "{s3.endpoint}"
        access_key = "env:KEY"
        secret_key = "env:SECRET"
        [lake]
        warehouse = "s3://company/lake/"
        [schemas]
        glue_endpoint = "{s3.endpoint}"
    """)
    environ = {"KEY": ACCESS_KEY, "SECRET": SECRET_KEY}
    settings = Settings.load(environ, project=folder, environment=None, cwd=folder)
    return Places(settings, Secrets(environ))


@pytest.fixture(scope="module")
def glue(s3: S3) -> Any:
    keys = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET_KEY}
    return boto3.client("glue", region_name=REGION, endpoint_url=s3.endpoint, **keys)


Register = Callable[[str, str, str], str]


@pytest.fixture(scope="module")
def register(glue: Any) -> Register:
    """Register a schema; its ARN."""
    glue.create_registry(RegistryName="shop")

    def make(name: str, kind: str, text: str) -> str:
        made = glue.create_schema(
            RegistryId={"RegistryName": "shop"},
            SchemaName=name,
            DataFormat=kind,
            Compatibility="NONE",
            SchemaDefinition=text,
        )
        return str(made["SchemaArn"])

    return make


def test_the_newest_version_of_a_registered_schema_is_used(
    spark: SparkSession, aws: Places, glue: Any, register: Register
) -> None:
    arn = register("orders", "AVRO", json.dumps({**AVRO, "fields": AVRO["fields"][:1]}))
    source = Source(source_id="orders", schema_arn=arn)
    assert schemas.find(source, aws) == (ddl("id BIGINT"), arn)
    wider = json.dumps({**AVRO, "fields": AVRO["fields"][:2]})
    glue.register_schema_version(SchemaId={"SchemaArn": arn}, SchemaDefinition=wider)
    assert schemas.declared(source, aws) == ddl("id BIGINT, note STRING")


def test_a_registered_json_schema_is_used(
    spark: SparkSession, aws: Places, register: Register
) -> None:
    arn = register("events", "JSON", json.dumps(JSON_SCHEMA))
    assert schemas.declared(Source(source_id="e", schema_arn=arn), aws) == ddl(JSON_DDL)


def test_a_table_of_the_data_catalog_is_used(spark: SparkSession, aws: Places, glue: Any) -> None:
    glue.create_database(DatabaseInput={"Name": "shop"})
    columns = [
        {"Name": "id", "Type": "bigint"},
        {"Name": "paid", "Type": "decimal(12,2)"},
        {"Name": "code", "Type": "varchar(10)"},
        {"Name": "who", "Type": "struct<name:string,tags:array<string>>"},
    ]
    glue.create_table(
        DatabaseName="shop",
        TableInput={
            "Name": "orders",
            "StorageDescriptor": {"Columns": columns},
            "PartitionKeys": [{"Name": "day", "Type": "date"}],
        },
    )
    arn = f"arn:aws:glue:{REGION}:123456789012:table/shop/orders"
    assert schemas.declared(Source(source_id="o", schema_arn=arn), aws) == ddl(
        "id BIGINT, paid DECIMAL(12, 2), code STRING, who STRUCT<name: STRING, tags: ARRAY<STRING>>"
    )
    for wrong in ("table/shop/nope", "table/orders", "schema/shop/nope"):
        source = Source(source_id="o", schema_arn=f"arn:aws:glue:{REGION}:123456789012:{wrong}")
        with pytest.raises(BadSchema):
            schemas.declared(source, aws)


def test_a_registry_that_does_not_answer_may_pass(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("away")
    (folder / "goldsmith.toml").write_text('[schemas]\nglue_endpoint = "http://127.0.0.1:1"\n')
    environ = {"KEY": "k"}
    settings = Settings.load(environ, project=folder, environment=None, cwd=folder)
    away = Places(settings, Secrets(environ))
    with pytest.raises(SchemaUnreachable) as caught:
        schemas.declared(Source(source_id="o", schema_arn=ARN), away)
    assert caught.value.transient


@pytest.mark.parametrize(
    ("kept", "seen", "merged"),
    [
        pytest.param("a INT", "a INT, b STRING", "a INT, b STRING", id="new columns are added"),
        pytest.param("a INT, b INT", "B INT", "a INT, b INT", id="missing columns stay"),
        pytest.param(
            "b INT, a INT", "a INT, c INT, b INT", "b INT, a INT, c INT", id="order stays"
        ),
        pytest.param("a STRING", "a BIGINT", "a STRING", id="kept types win"),
        pytest.param("a BIGINT", "a DOUBLE", "a BIGINT", id="kept types win where values get lost"),
        pytest.param(
            "a INT, b FLOAT", "a BIGINT, b DOUBLE", "a BIGINT, b DOUBLE", id="wider types win"
        ),
        pytest.param(
            "a DECIMAL(9, 2)", "a DECIMAL(12, 2)", "a DECIMAL(12, 2)", id="longer decimals"
        ),
        pytest.param(
            "s STRUCT<x: INT, l: ARRAY<STRUCT<q: INT>>>",
            "s STRUCT<l: ARRAY<STRUCT<r: INT, q: STRING>>, y: INT>",
            "s STRUCT<x: INT, l: ARRAY<STRUCT<q: INT, r: INT>>, y: INT>",
            id="inside structures too",
        ),
    ],
)
def test_what_is_kept_of_what_is_inferred(
    spark: SparkSession, kept: str, seen: str, merged: str
) -> None:
    assert merge_inferred(ddl(kept), ddl(seen)) == ddl(merged)
    assert merge_inferred(None, ddl(seen)) == ddl(seen)


def test_files_are_read_by_the_schema_that_is_kept(drop: Drop) -> None:
    drop.put("1.csv", "id,name\n1,ann\n")
    kept = merge_inferred(None, drop.infer())
    drop.put("2.csv", "more,id\nx,2\n")
    kept = merge_inferred(kept, drop.infer())
    assert plain(drop.read(kept).rows) == [("1", "ann", None), ("2", None, "x")]


def test_the_beginnings_of_files_are_read_over_http(
    spark: SparkSession, aws: Places, s3: S3
) -> None:
    import gzip

    client = s3.client()
    client.put_object(Bucket="company", Key="raw/a b.csv", Body=b"id,name\n" + b"1,ann\n" * 99999)
    client.put_object(Bucket="company", Key="raw/b.csv.gz", Body=gzip.compress(b"id,more\n2,x\n"))
    client.put_object(Bucket="company", Key="raw/c.csv", Body=b"")
    source = Source(source_id="raw", s3_path="s3://company/raw/")
    files = list_files("s3://company/raw/", aws)
    assert schemas.infer(spark, source, files, aws).names == ["id", "name", "more"]
    client.delete_object(Bucket="company", Key="raw/b.csv.gz")
    # The etag is another one, so that it is looked at again.
    from dataclasses import replace

    gone = [replace(file, etag="other") for file in files]
    with pytest.raises(FileVanished, match=r"s3://company/raw/b\.csv\.gz"):
        schemas.infer(spark, source, gone, aws)


def test_files_are_read_over_http(spark: SparkSession, aws: Places, s3: S3) -> None:
    s3.client().put_object(Bucket="company", Key="in/a +b.jsonl", Body=b'{"id": 1}\n{"id"\n')
    storage = {
        "fs.s3a.endpoint": s3.endpoint,
        "fs.s3a.endpoint.region": REGION,
        "fs.s3a.path.style.access": "true",
        "fs.s3a.access.key": ACCESS_KEY,
        "fs.s3a.secret.key": SECRET_KEY,
    }
    source = Source(source_id="in", s3_path="s3://company/in/", options=storage)
    read = read_files(spark, source, list_files("s3://company/in/", aws), aws, schema=None)
    assert plain(read.rows, "id", "_source_file") == [(1, "s3://company/in/a +b.jsonl")]
    assert plain(read.malformed, "_text", "_source_file") == [
        ('{"id"', "s3://company/in/a +b.jsonl")
    ]
