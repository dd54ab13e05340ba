"""Statements given straight to the driver say and store what they would through SQLAlchemy."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.errors import CatalogUnreachable
from goldsmith.catalog.prepared import Prepared
from goldsmith.journal.definitions import requests, stage_runs
from goldsmith.journal.journal import Journal

AT = datetime(2026, 11, 16, 9, 50, 0, 250_000, tzinfo=UTC)
ROW = {
    "stage_run_id": "try-1",
    "run_id": "run-1",
    "pipeline_id": "p",
    "stage_order": 1,
    "attempt": 1,
    "status": "running",
    "started_at": AT,
    "facts": {"naïve": [1, 2.5, None, "it's 100 %"]},
}
INSERT = sa.insert(stage_runs)
ALL = sa.select(stage_runs)


def rows(catalog: Catalog) -> list[dict[str, object]]:
    with database.reading(catalog.engine) as connection:
        return [dict(row) for row in connection.execute(ALL).mappings()]


def test_what_is_stored_is_the_same(catalog: Catalog) -> None:
    with database.writing(catalog.engine) as connection:
        assert Prepared(INSERT).run(connection, ROW) == 1
        connection.execute(INSERT, {**ROW, "stage_run_id": "try-2"})
    first, second = rows(catalog)
    assert {**first, "stage_run_id": "try-2"} == second
    assert first["facts"] == ROW["facts"]
    assert first["started_at"] == AT


def test_columns_may_differ_from_one_call_to_the_next(catalog: Catalog) -> None:
    insert = Prepared(INSERT)
    without = {name: value for name, value in ROW.items() if name != "facts"}
    with database.writing(catalog.engine) as connection:
        insert.run(connection, ROW)
        insert.run(connection, {**without, "stage_run_id": "try-2"})
    assert [row["facts"] for row in rows(catalog)] == [ROW["facts"], None]


def test_many_rows_go_at_once_and_none_is_fine(catalog: Catalog) -> None:
    with database.writing(catalog.engine) as connection:
        Prepared(INSERT).run_all(
            connection, [{**ROW, "stage_run_id": f"try-{n}"} for n in range(3)]
        )
        Prepared(INSERT).run_all(connection, [])
    assert len(rows(catalog)) == 3


def test_values_of_the_statement_itself_stay_and_given_ones_come_first(catalog: Catalog) -> None:
    statement = Prepared(
        sa.select(stage_runs.c.stage_run_id).where(
            stage_runs.c.status == "running", stage_runs.c.started_at >= sa.bindparam("since")
        )
    )
    with database.writing(catalog.engine) as connection:
        connection.execute(INSERT, ROW)
        connection.execute(INSERT, {**ROW, "stage_run_id": "try-2", "status": "failed"})
        assert statement.rows(connection, {"since": AT}) == [("try-1",)]
    assert statement.glance(catalog.engine, {"since": AT}) == [("try-1",)]
    assert statement.glance(catalog.engine, {"since": AT.replace(year=2027)}) == []


def test_what_the_database_refuses_is_refused_as_by_sqlalchemy_and_undone(catalog: Catalog) -> None:
    bad = {"request_id": "r", "kind": "run", "status": "no such status"}

    def both() -> None:
        with Journal(catalog.engine).writing() as connection:
            Prepared(INSERT).run(connection, ROW)
            Prepared(sa.insert(requests)).run(connection, bad)

    with pytest.raises(sa.exc.IntegrityError):
        both()
    assert rows(catalog) == []


def test_after_an_error_the_next_question_is_answered(catalog: Catalog) -> None:
    nowhere = Prepared(sa.select(sa.table("no_such_table", sa.column("a"))))
    errors = (CatalogUnreachable, catalog.engine.dialect.loaded_dbapi.Error)
    with pytest.raises(errors, match="no_such_table"):
        nowhere.glance(catalog.engine)
    assert Prepared(sa.select(sa.literal(1))).glance(catalog.engine) == [(1,)]
