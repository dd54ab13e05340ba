"""Definitions of Avro and of JSON Schema as Spark's schemas."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import SparkSession
from schema_definitions import ARN, AVRO, JSON_DDL, JSON_SCHEMA
from source_folder import Drop, ddl

from goldsmith.engine.read.errors import BadSchema
from goldsmith.engine.read.glue import of_definition


def test_avro_is_understood_as_spark_does(drop: Drop, spark: SparkSession) -> None:
    ours = of_definition(json.dumps(AVRO), "AVRO", ARN)
    drop.put_rows("a.avro", spark.range(1), "avro")
    theirs = drop.infer(avroSchema=json.dumps(AVRO))
    assert ours.simpleString() == theirs.simpleString()


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
