"""Errors as PostgreSQL and S3 really raise them get their code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from goldsmith.healing.classify import classify
from servers import s3 as s3_server
from servers.postgres import Postgres

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def url(postgres_server: Postgres) -> Iterator[str]:
    postgres_server.create("real_errors")
    yield postgres_server.url("real_errors").replace("+psycopg", "")
    postgres_server.drop("real_errors")


@pytest.fixture
def two(url: str) -> Iterator[tuple[Any, Any]]:
    """Two sessions that work on one table."""
    with psycopg.connect(url) as one, psycopg.connect(url) as other:
        one.execute("CREATE TABLE IF NOT EXISTS t (id INT PRIMARY KEY, n INT NOT NULL)")
        one.execute("TRUNCATE t")
        one.execute("INSERT INTO t VALUES (1, 1)")
        one.commit()
        yield one, other
        one.rollback()
        other.rollback()


def _serialization(one: Any, other: Any) -> None:
    for session in (one, other):
        session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        session.execute("SELECT * FROM t")
    one.execute("UPDATE t SET n = 2")
    one.commit()
    other.execute("UPDATE t SET n = 3")


def _lock(one: Any, other: Any) -> None:
    one.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
    other.execute("SET lock_timeout = '10ms'")
    other.execute("SELECT * FROM t")


ERRORS = {
    "SerializationConflict": _serialization,
    "LockTimeout": _lock,
    "StatementTimeout": lambda one, _: (
        one.execute("SET statement_timeout = '10ms'"),
        one.execute("SELECT pg_sleep(5)"),
    ),
    "DuplicateRows": lambda one, _: one.execute("INSERT INTO t VALUES (1, 2)"),
    "NullNotAllowed": lambda one, _: one.execute("INSERT INTO t VALUES (2, NULL)"),
    "ValueTooLong": lambda one, _: one.execute(
        "CREATE TEMP TABLE s (v VARCHAR(2)); INSERT INTO s VALUES ('long')"
    ),
    "ValueDoesNotFit": lambda one, _: one.execute("SELECT CAST('x' AS INT)"),
    "TableUnknown": lambda one, _: one.execute("SELECT * FROM nobody"),
    "ColumnUnknown": lambda one, _: one.execute("SELECT nothing FROM t"),
    "WarehouseReadOnly": lambda one, _: (
        one.execute("SET TRANSACTION READ ONLY"),
        one.execute("UPDATE t SET n = 9"),
    ),
    "WarehouseUnreachable": lambda *_: psycopg.connect("host=127.0.0.1 port=9 connect_timeout=2"),
}


@pytest.mark.parametrize("code", ERRORS)
def test_an_error_of_postgresql_gets_its_code(code: str, two: tuple[Any, Any]) -> None:
    with pytest.raises(psycopg.Error) as raised:
        ERRORS[code](*two)
    assert classify(raised.value).code.name == code


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
def test_an_error_of_s3_gets_its_code() -> None:
    from botocore.exceptions import ClientError, EndpointConnectionError

    with s3_server.running("here") as server:
        client = server.client()
        with pytest.raises(ClientError) as missing:
            client.list_objects_v2(Bucket="nowhere")
        with pytest.raises(ClientError) as gone:
            client.get_object(Bucket="here", Key="nothing")
        client.close()
    client = s3_server.S3(endpoint="http://127.0.0.1:9").client()
    with pytest.raises(EndpointConnectionError) as away:
        client.list_objects_v2(Bucket="here")
    client.close()
    found = [classify(error.value).code.name for error in (missing, gone, away)]
    assert found == ["SourceMissing", "FileVanished", "SourceUnreachable"]
