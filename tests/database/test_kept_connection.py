"""A thread that keeps a connection writes and reads as one that gets a new one each time."""

from __future__ import annotations

import threading

import pytest
import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.catalog.catalog import Catalog
from goldsmith.journal.definitions import leases

COUNT = "SELECT count(*) FROM leases"


def put(connection: sa.Connection, *resources: str) -> None:
    for resource in resources:
        connection.execute(sa.insert(leases), {"resource": resource, "token": 1})


def test_what_was_written_is_there_for_everybody(catalog: Catalog) -> None:
    engine = catalog.engine
    seen: list[object] = []
    with database.keeping(engine):
        with database.writing(engine) as connection:
            put(connection, "a")
        another = threading.Thread(target=lambda: seen.extend(database.glance(engine, COUNT)))
        another.start()
        another.join()
        assert database.glance(engine, COUNT) == seen == [(1,)]
        with database.reading(engine) as connection:
            assert connection.execute(sa.select(sa.func.count()).select_from(leases)).scalar() == 1


def test_a_file_is_opened_once_and_a_server_is_let_go_of(catalog: Catalog) -> None:
    pool = catalog.engine.pool
    assert isinstance(pool, sa.QueuePool)
    kept = 1 if catalog.engine.dialect.name == "sqlite" else 0
    with database.keeping(catalog.engine):
        with database.writing(catalog.engine):
            assert pool.checkedout() == 1
        assert pool.checkedout() == kept
    assert pool.checkedout() == 0


def test_who_asks_beside_a_transaction_sees_nothing_of_it(catalog: Catalog) -> None:
    engine = catalog.engine
    with database.keeping(engine), database.writing(engine) as connection:
        put(connection, "a")
        assert database.glance(engine, COUNT) == [(0,)]


def test_what_failed_is_taken_back_and_the_thread_goes_on(catalog: Catalog) -> None:
    engine = catalog.engine
    with database.keeping(engine):
        with pytest.raises(sa.exc.IntegrityError), database.writing(engine) as connection:
            put(connection, "a", "a")
        with pytest.raises(Exception, match="no_such"):
            database.glance(engine, "SELECT * FROM no_such")
        with pytest.raises(Exception, match="no_such"), database.reading(engine) as connection:
            connection.execute(sa.text("SELECT * FROM no_such"))
        with database.writing(engine) as connection:
            put(connection, "b")
        assert database.glance(engine, COUNT) == [(1,)]
