"""A load counts once or not at all, whatever fails, sleeps or is tried again."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import psycopg
import pyarrow as pa
import pytest

from goldsmith.engine.faults import POINTS
from goldsmith.engine.warehouses.publish import LoadGivenUp
from goldsmith.engine.warehouses.server import ServerWarehouse
from goldsmith.engine.warehouses.warehouse import Fenced, Load, LoadRefused, WarehouseUnreachable
from goldsmith.errors import GoldsmithError
from warehouses.bench import Bench, nowhere

ITEMS = {"id": "bigint", "name": "string"}
MODES = ("append", "overwrite", "merge", "scd2")
BEFORE_COMMIT = (
    "staging-table-made",
    "warehouse-copied",
    "warehouse-merged",
    "warehouse-ledger-written",
)
POINTS_OF_A_LOAD = (*BEFORE_COMMIT, "warehouse-committed", "staging-removed")


class Stopped(Exception):
    """The test stopped a load."""


def stop_at(wanted: str) -> Callable[[str], None]:
    def reach(point: str) -> None:
        if point == wanted:
            raise Stopped(point)

    return reach


def test_a_load_meets_its_points_in_order(warehouse: Bench) -> None:
    met: list[str] = []
    warehouse.warehouse.load(warehouse.order(warehouse.table(), [(1, "a")], ITEMS), met.append)
    assert tuple(met) == POINTS_OF_A_LOAD
    assert [point for point in POINTS if point in met] == met


def test_the_ledger_says_what_was_loaded(warehouse: Bench) -> None:
    order = warehouse.order(warehouse.table(), [(1, "a"), (2, "b")], ITEMS, token=7)
    assert warehouse.warehouse.loaded(order.location, order.stage_run_id) is None
    done = warehouse.warehouse.load(order, nowhere)
    assert warehouse.warehouse.loaded(order.location, order.stage_run_id) == done
    assert warehouse.warehouse.loaded("shop.other", order.stage_run_id) is None
    query = "SELECT location, token, rows FROM goldsmith.loads WHERE stage_run_id = %s"
    assert warehouse.ask(query, order.stage_run_id) == [(order.location, 7, 2)]


@pytest.mark.parametrize("mode", ["append", "merge"])
def test_a_second_load_of_a_stage_run_does_nothing(warehouse: Bench, mode: str) -> None:
    order = warehouse.order(warehouse.table(), [(1, "a")], ITEMS, mode=mode, keys=("id",))
    done = warehouse.warehouse.load(order, nowhere)
    other = warehouse.stage([(2, "b")], ITEMS)
    assert warehouse.warehouse.load(replace(order, staged=other), stop_at("nowhere")) == done
    assert warehouse.rows(order.location) == [(1, "a")]
    assert warehouse.leftovers() == []


def test_a_lower_token_is_fenced(warehouse: Bench) -> None:
    where = warehouse.table()
    warehouse.load(where, [(1, "a")], ITEMS, token=5)
    with pytest.raises(Fenced, match="token 5") as refused:
        warehouse.load(where, [(2, "b")], ITEMS, token=4)
    assert (refused.value.token, refused.value.seen) == (4, 5)
    warehouse.load(where, [(3, "c")], ITEMS, token=5)
    assert Counter(warehouse.rows(where)) == Counter([(1, "a"), (3, "c")])
    # Tokens are of one place: another table has its own.
    warehouse.load(warehouse.table(), [(2, "b")], ITEMS, token=1)
    assert warehouse.leftovers() == []


@pytest.mark.parametrize(
    ("point", "first"),
    [
        *(pytest.param(point, False, id=point) for point in BEFORE_COMMIT),
        pytest.param("warehouse-ledger-written", True, id="no table yet"),
    ],
)
def test_a_load_that_fails_leaves_everything_as_it_was(
    warehouse: Bench, point: str, first: bool
) -> None:
    where = warehouse.table()
    if not first:
        warehouse.load(where, [(1, "a")], ITEMS)
    how = {"mode": "overwrite"}
    order = warehouse.order(where, [(2, "b", "new")], {**ITEMS, "more": "string"}, **how)
    with pytest.raises(Stopped):
        warehouse.warehouse.load(order, stop_at(point))
    assert list(warehouse.warehouse.columns(where) or ()) == ([] if first else list(ITEMS))
    assert first or warehouse.rows(where) == [(1, "a")]
    assert warehouse.warehouse.loaded(where, order.stage_run_id) is None
    assert warehouse.leftovers() == []
    # And the same order can still be carried out.
    warehouse.warehouse.load(order, nowhere)
    assert warehouse.rows(where) == [(2, "b", "new")]


def test_what_fails_after_the_commit_was_published(warehouse: Bench) -> None:
    order = warehouse.order(warehouse.table(), [(1, "a")], ITEMS)
    with pytest.raises(Stopped):
        warehouse.warehouse.load(order, stop_at("warehouse-committed"))
    assert warehouse.warehouse.loaded(order.location, order.stage_run_id) is not None
    warehouse.warehouse.clean(order.location, order.stage_run_id)
    assert warehouse.warehouse.loaded(order.location, order.stage_run_id) is not None
    assert warehouse.rows(order.location) == [(1, "a")]
    assert warehouse.leftovers() == []


def test_rows_that_got_lost_on_the_way_are_noticed(warehouse: Bench) -> None:
    order = warehouse.order(warehouse.table(), [(1, "a")], ITEMS)
    with pytest.raises(LoadRefused, match="3 rows were staged and 1 arrived"):
        warehouse.warehouse.load(replace(order, rows=3), nowhere)
    assert warehouse.warehouse.columns(order.location) is None
    assert warehouse.leftovers() == []


def test_nothing_staged_is_no_rows(warehouse: Bench) -> None:
    where, nothing = warehouse.table(), f"{warehouse.staging}/nothing-was-ever-here"
    assert warehouse.load(where, [], ITEMS, staged=nothing).rows == 0
    with pytest.raises(LoadRefused, match="1 rows were staged and 0 arrived"):
        warehouse.load(where, [(1, "a")], ITEMS, staged=nothing)


def test_a_file_with_other_columns_is_refused(warehouse: Bench) -> None:
    where, order = warehouse.table(), warehouse.order("shop.x", [(1, "a")], ITEMS)
    warehouse.put(f"{order.staged}/part-00001.parquet", pa.table({"id": [1]}))
    with pytest.raises(LoadRefused):
        warehouse.warehouse.load(replace(order, location=where, rows=2), nowhere)
    assert warehouse.leftovers() == []


def test_a_load_that_was_cleaned_up_is_never_published(warehouse: Bench) -> None:
    """Its process slept before it began, and woke after another took over."""
    where = warehouse.table()
    order = warehouse.order(where, [(1, "a")], ITEMS)
    warehouse.warehouse.clean(where, order.stage_run_id)
    warehouse.warehouse.clean(where, order.stage_run_id)
    with pytest.raises(LoadGivenUp, match="taken for dead"):
        warehouse.warehouse.load(order, nowhere)
    assert warehouse.warehouse.loaded(where, order.stage_run_id) is None
    assert warehouse.warehouse.columns(where) is None
    assert warehouse.leftovers() == []


def test_clean_removes_what_a_dead_process_left(server: Bench) -> None:
    order = server.order(server.table(), [(1, "a")], ITEMS)

    def die(point: str) -> None:
        if point == "warehouse-copied":
            assert isinstance(server.warehouse, ServerWarehouse)
            (session_id,) = server.warehouse.session_ids
            server.ask("SELECT pg_terminate_backend(%s, 10000)", session_id)

    with pytest.raises(WarehouseUnreachable):
        server.warehouse.load(order, die)
    assert len(server.leftovers()) == 1
    server.warehouse.clean(order.location, order.stage_run_id)
    assert server.leftovers() == []
    assert server.warehouse.columns(order.location) is None


@pytest.mark.parametrize("point", ["warehouse-copied", "warehouse-merged"])
def test_clean_ends_a_session_that_sleeps(
    server: Bench, meanwhile: Callable[[Callable[[], object]], threading.Thread], point: str
) -> None:
    where = server.table()
    server.load(where, [(1, "a")], ITEMS)
    order = server.order(where, [(2, "b")], ITEMS, mode="overwrite")
    asleep, awake, ended = threading.Event(), threading.Event(), list[Exception]()

    def sleep(reached: str) -> None:
        if reached == point:
            asleep.set()
            assert awake.wait(30)

    def load() -> None:
        try:
            server.warehouse.load(order, sleep)
        except GoldsmithError as error:
            ended.append(error)

    sleeper = meanwhile(load)
    assert asleep.wait(30)
    server.warehouse.clean(where, order.stage_run_id)
    # Whoever took over loads at once: no lock is left.
    server.load(where, [(3, "c")], ITEMS)
    awake.set()
    sleeper.join(30)
    assert [type(error) for error in ended] == [LoadGivenUp]
    assert Counter(server.rows(where)) == Counter([(1, "a"), (3, "c")])
    assert server.leftovers() == []


@pytest.mark.parametrize("mode", MODES)
def test_a_reader_sees_the_old_or_the_new(server: Bench, mode: str) -> None:
    where, how = server.table(), {"mode": mode, "keys": ("id",), "watermark": "at"}
    columns = {"id": "bigint", "at": "timestamp_ntz"}
    server.load(where, [(1, None), (2, None)], columns, **how)
    seen: dict[str, list[object]] = {}
    with psycopg.connect(server.postgres, autocommit=True) as reader:

        def look(point: str) -> None:
            query = f"SELECT id FROM {server.sql(where)} ORDER BY id"
            seen[point] = [row[0] for row in reader.execute(query).fetchall()]

        server.warehouse.load(server.order(where, [(3, None)], columns, **how), look)
    after = [3] if mode == "overwrite" else [1, 2, 3]
    assert seen == {
        point: [1, 2] if point in BEFORE_COMMIT else after for point in POINTS_OF_A_LOAD
    }


@pytest.mark.parametrize("mode", MODES)
def test_a_session_that_looks_again_and_again_sees_whole_loads(
    server: Bench,
    mode: str,
    meanwhile: Callable[[Callable[[], object]], threading.Thread],
) -> None:
    where, how = server.table(), {"mode": mode, "keys": ("id",), "watermark": "at"}
    columns = {"id": "bigint", "load": "int", "at": "timestamp_ntz"}
    rows, loads = 20, 4
    seen: list[tuple[int, int, int]] = []
    over = threading.Event()

    def load(number: int) -> None:
        at = datetime(2026, 11, 16, number)
        server.load(where, [(id_, number, at) for id_ in range(rows)], columns, **how)

    def look() -> None:
        newest = f"(SELECT max(load) FROM {server.sql(where)})"
        query = f"SELECT count(*), max(load), count(*) FILTER (WHERE load = {newest})"
        with psycopg.connect(server.postgres, autocommit=True) as reader:
            while not over.is_set():
                seen.extend(reader.execute(f"{query} FROM {server.sql(where)}").fetchall())

    load(0)
    looker = meanwhile(look)
    for number in range(1, loads):
        load(number)
    over.set()
    looker.join(30)
    held = [rows * (n + 1) if mode in ("append", "scd2") else rows for n in range(loads)]
    assert seen
    assert set(seen) <= {(held[n], n, rows) for n in range(loads)}
    assert [row[1] for row in seen] == sorted(row[1] for row in seen)


def test_two_loads_at_once_take_turns(
    warehouse: Bench, meanwhile: Callable[[Callable[[], object]], threading.Thread]
) -> None:
    where = warehouse.table()
    orders: list[Load] = [
        warehouse.order(where, [(number, "a")], ITEMS, mode="merge", keys=("id",), token=1)
        for number in range(4)
    ]
    failed: list[Exception] = []

    def load(order: Load) -> None:
        try:
            warehouse.warehouse.load(order, nowhere)
        except GoldsmithError as error:
            failed.append(error)

    # The table is there: two loads that both make it are kept apart by its lease.
    warehouse.load(where, [], ITEMS, token=1)
    threads = [meanwhile(lambda order=order: load(order)) for order in orders]  # type: ignore[misc]
    for thread in threads:
        thread.join(60)
    assert failed == []
    assert Counter(warehouse.rows(where)) == Counter((number, "a") for number in range(4))
