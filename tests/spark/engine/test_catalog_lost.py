"""A catalog that goes away under a running stage: without its lease it publishes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import sql

from goldsmith.catalog.errors import CatalogUnreachable
from spark.engine.stopping import CORRECTION, QUICK, Stopping
from stopping_stages import SLEEP

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.parametrize("stopping", ["postgresql"], indirect=True),
]
RIGHT = [(1, 10), (2, 20)]
TAKE = "UPDATE leases SET owner = 'there/boot/1:2:3', host = 'there', token = token + 1"


@contextmanager
def away(url: str) -> Iterator[Callable[[str], None]]:
    """The database takes nobody and has thrown everybody out; yields a way in for one statement."""
    server, _, database = url.rpartition("/")
    name = sql.Identifier(database)
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:

        def takes(everybody: bool) -> None:
            connection.execute(
                sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}").format(
                    name, sql.Literal(everybody)
                )
            )

        def throw_out() -> None:
            takes(False)
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            connection.execute(ended, (database,))

        def slip_in(statement: str) -> None:
            takes(True)
            with psycopg.connect(url, autocommit=True) as inside:
                takes(False)
                inside.execute(statement)

        throw_out()
        try:
            yield slip_in
        finally:
            takes(True)


def ends(stopping: Stopping) -> None:
    """The run goes on and comes to its end; a catalog that is away is all that may be wrong."""
    stopping.monkeypatch.delenv("GOLDSMITH_FAULT", raising=False)
    stopping.holds.unlink(missing_ok=True)
    assert stopping.thread is not None
    stopping.thread.join(120)
    assert not stopping.thread.is_alive()
    assert all(isinstance(error, CatalogUnreachable) for error in stopping.errors)


def test_a_stage_that_keeps_on_publishes_when_the_catalog_is_back(stopping: Stopping) -> None:
    stopping.begin(held_at="shaped")
    with away(stopping.bench.runtime.settings.catalog.url):
        pass
    ends(stopping)
    assert stopping.statuses() == ["succeeded"]
    assert stopping.silver() == RIGHT


@pytest.mark.parametrize(
    "point",
    ["audited", *(pytest.param(p, marks=pytest.mark.soak) for p in ("shaped", "before-publish"))],
)
def test_a_stage_that_cannot_ask_for_its_lease_publishes_nothing(
    stopping: Stopping, point: str
) -> None:
    stopping.begin(held_at=point)
    with away(stopping.bench.runtime.settings.catalog.url):
        ends(stopping)
        there = stopping.silver()
    if point == "before-publish":
        # Its lease was renewed a moment ago: it publishes, and the next run completes the record.
        assert there == RIGHT
    else:
        assert there == []
    stopping.bench.run()
    # The request whose end could not be written down was not left as running.
    # The one that asks for the same joins it.
    found = sorted(status for (status,) in stopping.bench.sql("SELECT status FROM requests"))
    assert found == ["cancelled", "done", "done"]
    assert stopping.statuses()[-1] in ("succeeded", "skipped")
    assert stopping.silver() == RIGHT


def test_a_lease_that_somebody_took_meanwhile_is_not_published_over(stopping: Stopping) -> None:
    stopping.begin(held_at="audited")
    with away(stopping.bench.runtime.settings.catalog.url) as slip_in:
        slip_in(TAKE)
    ends(stopping)
    assert stopping.silver() == []
    assert stopping.statuses() == ["failed"]


@pytest.mark.soak
def test_a_stage_that_is_to_stop_then_is_stopped(stopping: Stopping) -> None:
    stopping.prepare()
    stopping.bench.sql("UPDATE pipelines SET on_catalog_loss = 'stop' WHERE pipeline_id = '@'")
    stopping.begin(silver=f"{QUICK} WHERE {SLEEP}")
    stopping.until(stopping.works)
    with away(stopping.bench.runtime.settings.catalog.url):
        ends(stopping)
        assert stopping.silver() == []
    stopping.bench.sql(CORRECTION, QUICK.replace("@", stopping.bench.tag))
    stopping.bench.run()
    assert stopping.silver() == RIGHT
