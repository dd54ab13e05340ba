"""Migrations: fresh, from an older version, beside others at work; and what is refused."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory

import goldsmith.catalog.migrate as migrations
from goldsmith.catalog import changes, database, defaults
from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.definitions import metadata
from goldsmith.catalog.errors import CatalogTooNew, CatalogTooOld
from goldsmith.catalog.incidents import SeverityLevel
from goldsmith.catalog.pipelines import Pipeline
from goldsmith.catalog.schema import DECLARED
from goldsmith.catalog.version import VERSION
from goldsmith.journal.definitions import OBSERVED
from plain_sql import PlainSql


@pytest.fixture
def engine(empty_url: str) -> Iterator[sa.Engine]:
    """A database with no tables at all."""
    made = database.connect(empty_url)
    yield made
    made.dispose()


@pytest.fixture
def empty(empty_url: str) -> Iterator[PlainSql]:
    connection = PlainSql(empty_url)
    yield connection
    connection.close()


def test_the_version_we_know_is_the_newest_migration() -> None:
    config = Config()
    folder = Path(migrations.__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder))
    assert ScriptDirectory.from_config(config).get_current_head() == VERSION


def test_a_fresh_database_gets_every_table_and_the_shipped_rows(engine: sa.Engine) -> None:
    assert migrations.migrate(engine) is None  # there is nothing to back up
    tables = set(sa.inspect(engine).get_table_names())
    declared = {row.table.name for row in DECLARED}
    assert declared | {table.name for table in OBSERVED} <= tables
    rows = Catalog(engine).snapshot()
    assert sum(len(rows.rows(kind)) for kind in DECLARED) == len(defaults.shipped())


def test_a_catalog_that_is_not_there_is_only_made_when_asked_for(empty_url: str) -> None:
    with pytest.raises(CatalogTooOld) as raised:
        Catalog.open(empty_url)
    assert raised.value.found == "none"
    Catalog.open(empty_url, create=True).close()
    Catalog.open(empty_url).close()


def test_migrating_a_catalog_of_this_version_does_nothing(
    engine: sa.Engine, empty: PlainSql
) -> None:
    migrations.migrate(engine)
    revision = empty.revision()
    assert migrations.migrate(engine) is None
    assert empty.revision() == revision


@pytest.fixture
def older(engine: sa.Engine, empty: PlainSql) -> sa.Engine:
    """A catalog of the first version with a row of somebody's in it, and one shipped row gone."""
    migrations.migrate(engine, to="0001")
    empty.run("INSERT INTO pipelines (pipeline_id, owner) VALUES ('orders', 'ann')")
    empty.run("UPDATE retry_policies SET max_retries = 9")
    empty.run("DELETE FROM profiles WHERE profile_id = 'focus'")
    return engine


def test_an_older_catalog_is_migrated_with_its_rows_and_history_kept(
    older: sa.Engine, empty: PlainSql, empty_url: str
) -> None:
    revision = empty.revision()
    kept = empty.run("SELECT * FROM changes ORDER BY change_id")
    there = set(sa.inspect(older).get_table_names())
    tables = {
        row.table.name: ", ".join(c["name"] for c in sa.inspect(older).get_columns(row.table.name))
        for row in DECLARED
        if row.table.name in there
    }
    before = {name: empty.run(f"SELECT {columns} FROM {name}") for name, columns in tables.items()}
    migrated = Catalog.open(empty_url, create=True)
    after = migrated.snapshot()
    migrated.close()
    assert empty.value("SELECT version_num FROM alembic_version") == VERSION
    assert empty.run("SELECT criticality, missed_runs FROM pipelines") == [(None, "once")]
    kept_rows = {
        name: empty.run(f"SELECT {columns} FROM {name}") for name, columns in tables.items()
    }
    [pipeline] = before["pipelines"]
    before["pipelines"] = [tuple(None if v == "normal" else v for v in pipeline)]
    assert kept_rows == before
    # New tables bring their shipped rows, as one change; criticality is another.
    assert empty.revision() == revision + 2
    assert len(after.rows(SeverityLevel)) == 4
    assert empty.run("SELECT * FROM changes ORDER BY change_id")[: len(kept)] == kept


def test_only_a_criticality_that_nobody_set_becomes_unset(
    engine: sa.Engine, empty: PlainSql, empty_url: str
) -> None:
    migrations.migrate(engine, to="0006")
    for name in ("untouched", "set_back", "low"):
        empty.run(f"INSERT INTO pipelines (pipeline_id) VALUES ('{name}')")
    empty.run("UPDATE pipelines SET criticality = 'low' WHERE pipeline_id IN ('set_back', 'low')")
    empty.run("UPDATE pipelines SET criticality = 'normal' WHERE pipeline_id = 'set_back'")
    migrations.migrate(engine)
    found = dict(empty.run("SELECT pipeline_id, criticality FROM pipelines"))
    assert found == {"untouched": None, "set_back": "normal", "low": "low"}
    migrated = Catalog.open(empty_url)
    [changed] = [
        change
        for change in changes.history(migrated, table="pipelines")
        if change.after and change.after["criticality"] is None
    ]
    migrated.close()
    assert (changed.key, changed.before["criticality"]) == (("untouched",), "normal")


def test_an_older_catalog_is_not_opened_without_being_told_to_migrate(
    older: sa.Engine, empty_url: str
) -> None:
    with pytest.raises(CatalogTooOld) as raised:
        Catalog.open(empty_url)
    assert (raised.value.found, raised.value.known) == ("0001", VERSION)


def test_the_backup_holds_the_rows_there_were(
    older: sa.Engine, empty: PlainSql, empty_url: str
) -> None:
    backup = migrations.migrate(older)
    assert backup is not None
    empty.run("UPDATE pipelines SET owner = 'bob'")
    if empty.is_sqlite:
        copy = PlainSql(f"sqlite:///{backup}")
        try:
            assert copy.value("SELECT owner FROM pipelines") == "ann"
            assert copy.value("SELECT version_num FROM alembic_version") == "0001"
            assert copy.value("SELECT count(*) FROM changes") > 0
        finally:
            copy.close()
        # It is a catalog like any other: put back, it is migrated again.
        opened = Catalog.open(f"sqlite:///{backup}", create=True)
        owners = [row.owner for row in opened.snapshot().rows(Pipeline)]
        opened.close()
        assert owners == ["ann"]
    else:
        schema = backup.removeprefix("schema ")
        assert empty.value(f"SELECT owner FROM {schema}.pipelines") == "ann"
        assert empty.value(f"SELECT version_num FROM {schema}.alembic_version") == "0001"
        assert empty.value(f"SELECT count(*) FROM {schema}.changes") > 0


def test_a_migration_that_fails_leaves_the_older_catalog_as_it_was(
    older: sa.Engine, empty: PlainSql, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(_connection: sa.Connection) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(defaults, "insert_missing", breaks)
    with pytest.raises(ZeroDivisionError):
        migrations.migrate(older)
    assert empty.value("SELECT version_num FROM alembic_version") == "0001"
    assert "runs" not in sa.inspect(older).get_table_names()
    empty.run("UPDATE pipelines SET owner = 'bob'")  # nobody holds a lock


def test_a_catalog_of_a_newer_version_is_refused(
    engine: sa.Engine, empty: PlainSql, empty_url: str
) -> None:
    migrations.migrate(engine)
    empty.run("UPDATE alembic_version SET version_num = '9999'")
    for create in (False, True):
        with pytest.raises(CatalogTooNew, match="version 9999") as raised:
            Catalog.open(empty_url, create=create)
        assert (raised.value.found, raised.value.known) == ("9999", VERSION)
    with pytest.raises(CatalogTooNew):
        migrations.migrate(engine)
    assert empty.value("SELECT version_num FROM alembic_version") == "9999"


def described(engine: sa.Engine) -> dict[str, Any]:
    """Every table as the database itself describes it."""
    look = sa.inspect(engine)
    return {
        name: {
            "columns": [
                (
                    column["name"],
                    str(column["type"]),
                    column["nullable"],
                    _without_spaces(column["default"]),
                )
                for column in look.get_columns(name)
            ],
            "key": look.get_pk_constraint(name)["constrained_columns"],
            "indexes": sorted(
                (index["name"], tuple(index["column_names"])) for index in look.get_indexes(name)
            ),
            "checks": sorted(
                (str(check["name"]), _without_spaces(check["sqltext"]))
                for check in look.get_check_constraints(name)
            ),
        }
        for name in look.get_table_names()
        if name not in ("alembic_version", "sqlite_sequence")
    }


def _without_spaces(text: str | None) -> str | None:
    return None if text is None else re.sub(r"\s+", "", text)


def test_migrated_tables_are_the_ones_the_definitions_make(
    engine: sa.Engine, request: pytest.FixtureRequest, tmp_path: Path, empty_url: str
) -> None:
    migrations.migrate(engine)
    if empty_url.startswith("sqlite"):
        url = f"sqlite:///{tmp_path / 'defined.db'}"
    else:
        url = request.getfixturevalue("new_database")(None)
    defined = database.connect(url)
    try:
        metadata.create_all(defined)
        expected = described(defined)
    finally:
        defined.dispose()
    found = described(engine)
    assert found.keys() == expected.keys()
    for name in expected:
        assert found[name] == expected[name], name


OPEN = """
import sys
from goldsmith.catalog.catalog import Catalog
sys.stdin.readline()
opened = Catalog.open(sys.argv[1], create=True)
print(opened.revision(), len(opened.snapshot().tables))
opened.close()
"""


def test_ten_processes_may_make_the_same_catalog_at_once(empty_url: str, empty: PlainSql) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, empty_url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(10)
    ]
    with ThreadPoolExecutor(10) as pool:  # they have all been started: let them go at once
        answers = list(pool.map(lambda process: process.communicate("\n", timeout=120), processes))
    assert [error for _said, error in answers if error] == []
    assert {output for output, _error in answers} == {f"1 {len(DECLARED)}\n"}
    [(shipped,)] = empty.run("SELECT count(*) FROM changes")
    assert shipped == len(defaults.shipped())


def until(done: threading.Event, work: Callable[[], object]) -> int:
    """Work again and again until told to stop, and at least once; how often."""
    times = 0
    while times == 0 or not done.is_set():
        work()
        times += 1
    return times


def test_a_catalog_is_migrated_while_others_read_and_write(
    older: sa.Engine, empty_url: str
) -> None:
    done = threading.Event()

    def read() -> int:
        reader = PlainSql(empty_url)
        try:
            return until(done, lambda: reader.run("SELECT owner FROM pipelines"))
        finally:
            reader.close()

    def write() -> int:
        writer = PlainSql(empty_url)

        def change() -> None:
            # Two tables, in the other order than a migration goes through them.
            writer.run("BEGIN IMMEDIATE" if writer.is_sqlite else "BEGIN")
            writer.run("UPDATE targets SET type = 's3'")
            writer.run("UPDATE pipelines SET sla_minutes = coalesce(sla_minutes, 0) + 1")
            writer.run("COMMIT")

        try:
            return until(done, change)
        finally:
            writer.close()

    before = Catalog(older).revision()
    with ThreadPoolExecutor(2) as pool:
        reading, writing = pool.submit(read), pool.submit(write)
        try:
            assert migrations.migrate(older) is not None
        finally:
            done.set()
        reading.result(60)
        written = writing.result(60)
    migrated = Catalog.open(empty_url)
    row = migrated.snapshot().get(Pipeline, "orders")
    assert row is not None
    assert row.sla_minutes == written
    assert migrated.revision() == before + written + 2  # the rows of new tables, and criticality
    migrated.close()


def test_a_reader_in_the_middle_of_its_transaction_does_not_hold_a_migration_up(
    older: sa.Engine, empty: PlainSql
) -> None:
    empty.run("BEGIN")
    owner = empty.value("SELECT owner FROM pipelines")
    # 0007 adds columns to `pipelines`: on PostgreSQL that waits for its readers, up to 30 s.
    migrations.migrate(older, to="0006")
    assert empty.value("SELECT owner FROM pipelines") == owner == "ann"
    empty.run("COMMIT")
    assert empty.value("SELECT version_num FROM alembic_version") == "0006"
