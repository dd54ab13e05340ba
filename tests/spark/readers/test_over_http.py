"""Schemas of Glue and files of S3, over HTTP; moto stands in for both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from pyspark.sql import SparkSession
from schema_definitions import ARN, AVRO, JSON_DDL, JSON_SCHEMA
from source_folder import ddl, plain

from goldsmith.catalog.datasets import Source
from goldsmith.credentials import Secrets
from goldsmith.engine.read import schemas
from goldsmith.engine.read.errors import BadSchema, FileVanished, SchemaUnreachable
from goldsmith.engine.read.files import read_files
from goldsmith.settings.settings import Settings
from goldsmith.storage.files import list_files
from goldsmith.storage.storage import Storage
from servers import s3 as s3_server
from servers.s3 import ACCESS_KEY, REGION, S3, SECRET_KEY


@pytest.fixture(scope="module")
def s3() -> Iterator[S3]:
    """Moto's server: S3 and Glue alike."""
    with s3_server.running("company") as server:
        yield server


@pytest.fixture(scope="module")
def aws(s3: S3, tmp_path_factory: pytest.TempPathFactory) -> Storage:
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
    return Storage(settings, Secrets(environ))


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
    spark: SparkSession, aws: Storage, glue: Any, register: Register
) -> None:
    arn = register("orders", "AVRO", json.dumps({**AVRO, "fields": AVRO["fields"][:1]}))
    source = Source(source_id="orders", schema_arn=arn)
    assert schemas.find(source, aws) == (ddl("id BIGINT"), arn)
    wider = json.dumps({**AVRO, "fields": AVRO["fields"][:2]})
    glue.register_schema_version(SchemaId={"SchemaArn": arn}, SchemaDefinition=wider)
    assert schemas.declared(source, aws) == ddl("id BIGINT, note STRING")


def test_a_registered_json_schema_is_used(
    spark: SparkSession, aws: Storage, register: Register
) -> None:
    arn = register("events", "JSON", json.dumps(JSON_SCHEMA))
    assert schemas.declared(Source(source_id="e", schema_arn=arn), aws) == ddl(JSON_DDL)


def test_a_table_of_the_data_catalog_is_used(spark: SparkSession, aws: Storage, glue: Any) -> None:
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
    found = schemas.declared(Source(source_id="o", schema_arn=arn), aws)
    assert found is not None
    assert found["code"].metadata == {"max_length": 10}
    found["code"].metadata = {}
    assert found == ddl(
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
    away = Storage(settings, Secrets(environ))
    with pytest.raises(SchemaUnreachable) as caught:
        schemas.declared(Source(source_id="o", schema_arn=ARN), away)
    assert caught.value.transient


def test_the_beginnings_of_files_are_read_over_http(
    spark: SparkSession, aws: Storage, s3: S3
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


def test_files_are_read_over_http(spark: SparkSession, aws: Storage, s3: S3) -> None:
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


def test_a_prefix_is_a_folder_and_takes_no_neighbour(aws: Storage, s3: S3) -> None:
    client = s3.client()
    keys = [
        "orders/1.csv",
        "orders/day=1/2.csv",
        "orders2024.csv",
        "orders-old/3.csv",
        "orders.csv",
    ]
    for key in (*keys, "orders/", "orders/_tmp/4.csv"):
        client.put_object(Bucket="company", Key=f"prefix/{key}", Body=b"id\n1\n")

    def listed(location: str) -> list[str]:
        return [file.path for file in list_files(location, aws)]

    inside = ["s3://company/prefix/orders/1.csv", "s3://company/prefix/orders/day=1/2.csv"]
    assert listed("s3://company/prefix/orders") == inside
    assert listed("s3://company/prefix/orders/") == inside
    assert listed("s3://company/prefix/orders.csv") == ["s3://company/prefix/orders.csv"]
    assert listed("s3://company/prefix/orders2024") == []
    # A file and a folder of one name are both of it.
    client.put_object(Bucket="company", Key="prefix/orders", Body=b"id\n1\n")
    assert listed("s3://company/prefix/orders") == ["s3://company/prefix/orders", *inside]


def test_staging_takes_no_neighbour_away(aws: Storage, s3: S3) -> None:
    from goldsmith.storage import staging

    client = s3.client()
    for key in ("staging/1/a.parquet", "staging/10/a.parquet", "staging/1-in/a.parquet"):
        client.put_object(Bucket="company", Key=key, Body=b"x")
    staging.remove(aws, "s3://company/staging/1")
    assert not staging.exists(aws, "s3://company/staging/1")
    assert staging.files(aws, "s3://company/staging/10") == ["s3://company/staging/10/a.parquet"]
    assert staging.exists(aws, "s3://company/staging/1-in")
