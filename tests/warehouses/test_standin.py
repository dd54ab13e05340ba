"""The stand-in for Redshift is no kinder than Redshift."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import redshift_connector
from redshift_connector.utils.oids import RedshiftOID

from warehouses.bench import Bench
from warehouses.conftest import BUCKET


@pytest.fixture
def connection(redshift: Bench) -> Iterator[Any]:
    settings = redshift.storage.settings.warehouses["redshift"]
    with contextlib.closing(
        redshift_connector.connect(
            host=settings.host,
            port=settings.port,
            database=settings.database,
            user=settings.user,
            password="",
            ssl=False,
        )
    ) as opened:
        yield opened


def run(connection: Any, *statements: str) -> list[Any]:
    with contextlib.closing(connection.cursor()) as cursor:
        for sql in statements:
            cursor.execute(sql)
        return list(cursor.fetchall()) if cursor.description else []


def state(refused: pytest.ExceptionInfo[redshift_connector.Error]) -> str:
    return str(refused.value.args[0]["C"])


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", "42601"),
        ("DELETE FROM t RETURNING a", "42601"),
        ("SELECT a FROM t FOR UPDATE", "0A000"),
        ("TRUNCATE t", "0A000"),
        ("CREATE UNLOGGED TABLE u (a int)", "42601"),
        ("CREATE TABLE u (a jsonb)", "42704"),
        ("SELECT a IS NOT DISTINCT FROM 1 FROM t", "42601"),
        ("LOCK TABLE t IN EXCLUSIVE MODE", "42601"),
        (f"COPY t FROM 's3://{BUCKET}/x' FORMAT AS PARQUET", "42601"),
        (f"COPY t FROM 's3://{BUCKET}/x' IAM_ROLE default FORMAT PARQUET REGION 'x'", "42601"),
        (f"COPY t FROM 's3://{BUCKET}/none' IAM_ROLE default FORMAT PARQUET MANIFEST", "XX000"),
    ],
)
def test_what_redshift_refuses(connection: Any, sql: str, expected: str) -> None:
    run(connection, "CREATE TEMP TABLE t (a int)")
    with pytest.raises(redshift_connector.ProgrammingError) as refused:
        run(connection, sql)
    assert state(refused) == expected
    with pytest.raises(redshift_connector.ProgrammingError) as aborted:
        run(connection, "SELECT 1")
    assert state(aborted) == "25P02"
    connection.rollback()
    assert run(connection, "SELECT 1") == [[1]]


def test_what_is_quoted_is_not_looked_into(connection: Any) -> None:
    keywords = "ON CONFLICT FOR UPDATE RETURNING"
    assert run(connection, f"SELECT '{keywords}' AS \"{keywords}\"") == [[keywords]]


def test_names_are_folded_and_json_is_super(connection: Any) -> None:
    sql = 'CREATE TEMP TABLE "T" ("Ab" SUPER, "Cd" bigint ENCODE az64) DISTKEY("Cd") SORTKEY("Cd")'
    run(connection, sql, "INSERT INTO t VALUES (JSON_PARSE('{\"a\": 1}'), 1)")
    with contextlib.closing(connection.cursor()) as cursor:
        cursor.execute('SELECT "AB", cd FROM t')
        described = [(column[0], column[1]) for column in cursor.description]
        assert described == [("ab", RedshiftOID.SUPER), ("cd", RedshiftOID.BIGINT)]
        assert list(cursor.fetchall()) == [['{"a": 1}', 1]]


def test_truncate_alone_is_fine(connection: Any, redshift: Bench) -> None:
    where = redshift.table()
    redshift.load(where, [(1,)], {"id": "bigint"})
    connection.autocommit = True
    run(connection, f"TRUNCATE {where}")
    assert redshift.rows(where) == []
