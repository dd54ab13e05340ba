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
    with psycopg.connect(url) as first, psycopg.connect(url) as second:
        first.execute("CREATE TABLE IF NOT EXISTS t (id INT PRIMARY KEY, n INT NOT NULL)")
        first.execute("TRUNCATE t")
        first.execute("INSERT INTO t VALUES (1, 1)")
        first.commit()
        yield first, second
        first.rollback()
        second.rollback()


def _serialization(first: Any, second: Any) -> None:
    for session in (first, second):
        session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        session.execute("SELECT * FROM t")
    first.execute("UPDATE t SET n = 2")
    first.commit()
    second.execute("UPDATE t SET n = 3")


def _lock(first: Any, second: Any) -> None:
    first.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
    second.execute("SET lock_timeout = '10ms'")
    second.execute("SELECT * FROM t")


ERRORS = {
    "SerializationConflict": _serialization,
    "LockTimeout": _lock,
    "StatementTimeout": lambda first, _: (
        first.execute("SET statement_timeout = '10ms'"),
        first.execute("SELECT pg_sleep(5)"),
    ),
    "DuplicateRows": lambda first, _: first.execute("INSERT INTO t VALUES (1, 2)"),
    "NullNotAllowed": lambda first, _: first.execute("INSERT INTO t VALUES (2, NULL)"),
    "ValueTooLong": lambda first, _: first.execute(
        "CREATE TEMP TABLE s (v VARCHAR(2)); INSERT INTO s VALUES ('long')"
    ),
    "ValueDoesNotFit": lambda first, _: first.execute("SELECT CAST('x' AS INT)"),
    "TableUnknown": lambda first, _: first.execute("SELECT * FROM nobody"),
    "ColumnUnknown": lambda first, _: first.execute("SELECT nothing FROM t"),
    "WarehouseReadOnly": lambda first, _: (
        first.execute("SET TRANSACTION READ ONLY"),
        first.execute("UPDATE t SET n = 9"),
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
