"""Schemas: declared, named by an ARN, inferred and kept."""

from __future__ import annotations

import logging

import pytest
from pyspark.sql import SparkSession
from source_folder import Drop, ddl, plain

from goldsmith.catalog.datasets import Source
from goldsmith.engine.read import schemas
from goldsmith.engine.read.errors import BadSchema
from goldsmith.engine.read.glue import Arn
from goldsmith.engine.read.schemas import merge_inferred
from goldsmith.storage.storage import Storage

ARN = "arn:aws:glue:us-east-1:123456789012:schema/shop/orders"


def source_with(text: str) -> Source:
    return Source(source_id="orders", declared_schema=text)


def test_a_declared_schema_comes_first(spark: SparkSession, storage: Storage) -> None:
    source = Source(source_id="orders", declared_schema="id BIGINT NOT NULL", schema_arn=ARN)
    found = schemas.find(source, storage)
    assert found is not None
    assert found.origin == "declared_schema"
    assert found.schema == ddl("id BIGINT")
    assert schemas.declared(Source(source_id="orders"), storage) is None


def test_a_schema_may_be_declared_as_sparks_json(spark: SparkSession, storage: Storage) -> None:
    schema = ddl("id BIGINT, at ARRAY<TIMESTAMP>, m MAP<STRING, VARCHAR(3)>")
    found = schemas.declared(source_with(schema.json()), storage)
    assert found is not None
    expected = ddl("id BIGINT, at ARRAY<TIMESTAMP>, m MAP<STRING, STRING>")
    assert found.simpleString() == expected.simpleString()
    assert found["m"].metadata == {"max_length": 3}


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
    spark: SparkSession, storage: Storage, text: str, cause: str, hint: str
) -> None:
    with pytest.raises(BadSchema, match="declared_schema of source 'orders'") as caught:
        schemas.declared(source_with(text), storage)
    assert cause in str(caught.value)
    assert hint in caught.value.hint


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
    spark: SparkSession, storage: Storage, name: str, text: str
) -> None:
    file = storage.settings.schemas.folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    try:
        for arn in (ARN, "arn:aws:glue:...:schema/orders"):
            found = schemas.find(Source(source_id="orders", schema_arn=arn), storage)
            assert found == (ddl("id BIGINT"), str(file))
    finally:
        file.unlink()


def test_an_arn_that_leads_nowhere_here_is_a_warning(
    storage: Storage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("goldsmith"), "propagate", True)
    assert schemas.declared(Source(source_id="orders", schema_arn=ARN), storage) is None
    assert "it is inferred from the files" in caplog.text


def test_arns_are_taken_apart() -> None:
    assert Arn.of(ARN)[1:] == ("us-east-1", "123456789012", "schema", ("shop", "orders"))
    short = Arn.of("arn:aws:glue:...:schema/user_events")
    assert (short.region, short.account, short.name) == ("", "", "user_events")


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
