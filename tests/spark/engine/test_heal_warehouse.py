"""Loads into a real PostgreSQL that refuses: conflicts, locks, limits; each pair ending healed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from spark.engine.conftest import Bench, Elsewhere
from spark.engine.healing import BRONZE, ask, attempt, expected_story, on, run_until_over, story

pytestmark = pytest.mark.postgres

GOLD = """
targets:
  - {target_id: "gold_@", location: "shop.gold_@", type: postgres}
stages:
  - pipeline_id: "@"
    stage_order: 1
    source_id: "raw_@"
    target_id: "gold_@"
    write_mode: merge
    keys: [id]
    options: {read: new}
"""
#: What PostgreSQL itself says when it is short of something, for loads the test calls too large.
SHORT = """
CREATE FUNCTION shop.short() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT count(*) FROM fresh) > {most} THEN
    RAISE EXCEPTION USING ERRCODE = '{state}', MESSAGE = '{words}';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER short AFTER INSERT ON {table} REFERENCING NEW TABLE AS fresh
FOR EACH STATEMENT EXECUTE FUNCTION shop.short();
"""


class Gold:
    """A bench that loads into a database, and a way to look into that."""

    def __init__(self, elsewhere: Elsewhere, url: str, more: str = "") -> None:
        self.url = url
        self.bench: Bench = elsewhere(
            f'[storage]\nfolder = "HOME/s3"\n[warehouses.postgres]\nurl = "{url}"\n{more}\n'
        )
        self.table = f"shop.gold_{self.bench.tag}"
        self.bench.apply(BRONZE.split("sources:")[0].split("stages:")[0])
        self.bench.apply("sources:" + BRONZE.split("sources:")[1].split("targets:")[0] + GOLD)

    def first(self) -> None:
        """A row that is loaded before anything goes wrong, and one that comes after it."""
        self.bench.bring("a.jsonl", {"id": 1, "amount": 10})
        done = run_until_over(self.bench)
        assert done.status == "done", done.because
        self.bench.bring("b.jsonl", {"id": 1, "amount": 11}, {"id": 2, "amount": 20})

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def rows(self) -> list[tuple[Any, ...]]:
        return self.run(f"SELECT id, amount FROM {self.table} ORDER BY id")

    def always(self, setting: str) -> None:
        """A setting of every session that begins after this."""
        self.run(f"ALTER DATABASE {self.url.rpartition('/')[2]} SET {setting}")


def broke_off(code: str, *remedies: str) -> list[str]:
    """The story of a stage whose target could not even be asked: nobody calls it failed then."""
    return [event for event in expected_story(code, *remedies) if event != f"StageFailed {code}"]


@pytest.fixture
def gold(elsewhere: Elsewhere, database: str) -> Gold:
    return Gold(elsewhere, database)


RIGHT = [(1, 11), (2, 20)]
ENDS_BLOCKER = """
healing_actions:
  - error_code: LockTimeout
    action_script: wait_for_lock
    settings: {end_blocker_after: 1}
"""


@contextlib.contextmanager
def another(
    gold: Gold, then: Callable[[psycopg.Connection[Any]], object]
) -> Iterator[Callable[[], None]]:
    """A session that changes a row of the target, and does something once a load waits for it."""
    waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    threads: list[threading.Thread] = []
    with (
        psycopg.connect(gold.url) as other,
        psycopg.connect(gold.url, autocommit=True) as looking,
    ):

        def wait_for_the_load() -> None:
            while looking.execute(waits).fetchone() == (0,):
                pass
            then(other)

        def begin() -> None:
            other.execute("SET deadlock_timeout = '1h'")
            other.execute(f"UPDATE {gold.table} SET amount = 99")
            threads.append(threading.Thread(target=wait_for_the_load, daemon=True))
            threads[0].start()

        yield begin
        for thread in threads:
            thread.join(60)
        other.rollback()


def test_a_serialisation_conflict_is_healed_by_coming_one_after_the_other(
    gold: Gold, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold.first()
    gold.always("default_transaction_isolation = 'repeatable read'")
    with another(gold, lambda other: other.commit()) as begin:
        on(monkeypatch, "warehouse-copied", begin)
        request = ask(gold.bench)
        assert attempt(gold.bench, request).status == "waiting"
    done = run_until_over(gold.bench, request)

    assert done.status == "done", done.because
    assert gold.rows() == RIGHT
    assert story(gold.bench, done) == expected_story("SerializationConflict", "serialise_on_target")


@pytest.mark.soak
def test_a_deadlock_is_healed_by_coming_one_after_the_other(
    gold: Gold, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold.first()
    # The load looks for a deadlock and loses; the other one never does.
    gold.always("deadlock_timeout = '2s'")

    def wants_the_ledger(other: psycopg.Connection[Any]) -> None:
        other.execute("LOCK TABLE goldsmith.loads")
        other.rollback()

    with another(gold, wants_the_ledger) as begin:
        on(monkeypatch, "warehouse-copied", begin)
        request = ask(gold.bench)
        assert attempt(gold.bench, request).status == "waiting"
    done = run_until_over(gold.bench, request)

    assert done.status == "done", done.because
    assert gold.rows() == RIGHT
    assert story(gold.bench, done) == expected_story("Deadlock", "serialise_on_target")


@pytest.mark.soak
def test_a_warehouse_that_is_gone_is_waited_for(
    gold: Gold, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold.first()
    ended = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
    on(
        monkeypatch,
        "warehouse-copied",
        lambda: gold.run(f"{ended} WHERE application_name = 'goldsmith'"),
    )
    done = run_until_over(gold.bench)

    assert done.status == "done", done.because
    assert gold.rows() == RIGHT
    assert story(gold.bench, done) == expected_story("WarehouseUnreachable", "retry_later")


@pytest.mark.soak
def test_a_standby_is_waited_for_until_it_takes_writes(gold: Gold) -> None:
    gold.first()
    gold.always("default_transaction_read_only = on")
    request = ask(gold.bench)
    waiting = attempt(gold.bench, request)
    assert (waiting.status, waiting.not_before is not None) == ("waiting", True)
    with psycopg.connect(gold.url, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        name = gold.url.rpartition("/")[2]
        connection.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    done = run_until_over(gold.bench, request)

    assert done.status == "done", done.because
    assert gold.rows() == RIGHT
    assert story(gold.bench, done) == broke_off("WarehouseReadOnly", "wait_for_warehouse")


@pytest.mark.soak
def test_a_place_among_the_connections_is_waited_for(elsewhere: Elsewhere, database: str) -> None:
    # Limits do not hold for a superuser.
    name = database.rpartition("/")[2]
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN SUPERUSER")
    gold = Gold(elsewhere, database.replace("postgres@", f"{name}@"))
    gold.first()
    gold.run(f"GRANT ALL ON DATABASE {name} TO {name}")
    gold.run(f"ALTER ROLE {name} NOSUPERUSER CONNECTION LIMIT 1")
    with psycopg.connect(gold.url):
        request = ask(gold.bench)
        assert attempt(gold.bench, request).status == "waiting"
    done = run_until_over(gold.bench, request)

    assert done.status == "done", done.because
    gold.url = database
    assert gold.rows() == RIGHT
    assert story(gold.bench, done) == broke_off("TooManyConnections", "wait_for_warehouse")
    gold.run(f"REASSIGN OWNED BY {name} TO postgres")
    gold.run(f"DROP OWNED BY {name}")
    gold.run(f"DROP ROLE {name}")


@pytest.mark.soak
def test_a_warehouse_without_room_is_waited_for(gold: Gold) -> None:
    """The server's own words and SQLSTATE, from a trigger: PostgreSQL itself has no such queue."""
    gold.first()
    message = "no slot is free for this query"
    gold.run(SHORT.format(most=0, state="53000", words=message, table=gold.table))
    request = ask(gold.bench)
    assert attempt(gold.bench, request).status == "waiting"
    gold.run(f"DROP TRIGGER short ON {gold.table}")
    done = run_until_over(gold.bench, request)

    assert done.status == "done", done.because
    assert gold.rows() == RIGHT
    assert story(gold.bench, done) == expected_story("WarehouseBusy", "wait_for_warehouse")


@pytest.mark.soak
def test_a_load_too_large_for_the_warehouse_is_waited_with_and_then_made_smaller(
    gold: Gold,
) -> None:
    """The server's own words and SQLSTATE, from a trigger that calls many rows too much memory."""
    gold.first()
    for number in range(3, 70):
        gold.bench.bring(f"{number}.jsonl", {"id": number, "amount": number})
    gold.run(SHORT.format(most=66, state="53200", words="out of memory", table=gold.table))
    done = run_until_over(gold.bench)

    assert done.status == "done", done.because
    assert gold.rows() == [*RIGHT, *((number, number) for number in range(3, 70))]
    events = story(gold.bench, done)
    remedies = ("wait_for_warehouse",) * 3 + ("smaller_batches",)
    assert events[: len(expected_story("X", *remedies))] == expected_story(
        "WarehouseOutOfMemory", *remedies
    )


@pytest.mark.soak
def test_a_lock_is_waited_for_and_its_holder_ended_where_the_row_says_so(
    elsewhere: Elsewhere, database: str
) -> None:
    gold = Gold(elsewhere, database, "lock_sec = 1")
    gold.first()
    gold.bench.apply(ENDS_BLOCKER)
    with psycopg.connect(gold.url) as other:
        other.execute(f"LOCK TABLE {gold.table} IN SHARE ROW EXCLUSIVE MODE")
        request = ask(gold.bench)
        waiting = attempt(gold.bench, request)
        assert (waiting.status, waiting.because) == (
            "waiting",
            f"{gold.bench.tag}-1 failed (LockTimeout): somebody holds a lock; it is tried again",
        )
        done = run_until_over(gold.bench, request)
        with pytest.raises(psycopg.OperationalError):
            other.execute("SELECT 1")
    gold.bench.apply(ENDS_BLOCKER.replace("{end_blocker_after: 1}", "{}"))

    assert done.status == "done", done.because
    assert gold.rows() == RIGHT
    assert story(gold.bench, done) == expected_story(
        "LockTimeout", "wait_for_lock", "wait_for_lock"
    )
