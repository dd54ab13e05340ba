"""Every way to write a table does what a plain model of it does, on every warehouse."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldsmith.engine.shape.watermarks import WatermarkNotComparable
from goldsmith.engine.warehouses.landing import KeyMissing
from goldsmith.planning.rewritten_files import FileRewritten
from warehouses import model
from warehouses.bench import Bench

ORDERS = {"id": "bigint", "shop": "string", "at": "timestamp_ntz", "amount": "int"}
KEYS = ("id", "shop")
MORNING, NOON, EVENING = (datetime(2026, 11, 16, hour) for hour in (8, 12, 18))
VALIDITY = ("_valid_from", "_valid_to", "_is_current")

#: Loads are slow beside what hypothesis is used to, and the shared warehouse is meant.
few = settings(
    max_examples=8,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
keys = st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["", "a", None]))
moments = st.sampled_from([MORNING, NOON, EVENING, None])
amounts = st.sampled_from([1, 2, None])
changes = st.tuples(keys, moments, amounts)


def flat(rows: list[model.Row]) -> list[tuple[Any, ...]]:
    return [(*key, at, amount) for key, at, amount in rows]


def in_utc(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        value.astimezone(UTC).replace(tzinfo=None)
        if isinstance(value, datetime) and value.tzinfo
        else value
        for value in row
    )


@pytest.mark.parametrize("kind", ["duckdb", "postgres"])
def test_a_new_field_of_a_struct_makes_no_version_where_it_is_null(
    request: pytest.FixtureRequest, kind: str
) -> None:
    bench: Bench = request.getfixturevalue(kind)
    where, how = bench.table(), {"mode": "scd2", "keys": ("id",), "watermark": "at"}
    schema = {"id": "bigint", "at": "timestamp_ntz", "v": ""}

    def load(at: datetime, type_: str, *values: Any) -> None:
        rows = [(number, at, value) for number, value in enumerate(values)]
        bench.load(where, rows, {**schema, "v": type_}, **how)

    load(MORNING, "struct<x:string>", {"x": 'a,}"\\'}, {"x": "a,}"}, {"x": None}, {"x": "b"})
    longer = [{"y": None, "x": 'a,}"\\', "z": None}, {"y": None, "x": "a}", "z": None}]
    longer += [{"y": None, "x": None, "z": None}, {"y": None, "x": "b", "z": "new"}]
    load(NOON, "struct<y:string,x:string,z:string>", *longer)
    versions = Counter(bench.rows(where, "id", "_is_current"))
    assert versions == {(n, c): 1 for n in range(4) for c in (True, False)}
    current = {
        row[0] for row in bench.rows(where, "id", "at", "_is_current") if row[1:] == (NOON, True)
    }
    assert current == {1, 3}


@pytest.mark.parametrize("kind", ["duckdb", "postgres"])
def test_an_entry_of_a_map_that_is_null_is_a_change(
    request: pytest.FixtureRequest, kind: str
) -> None:
    bench: Bench = request.getfixturevalue(kind)
    where, how = bench.table(), {"mode": "scd2", "keys": ("id",), "watermark": "at"}
    schema = {"id": "bigint", "at": "timestamp_ntz", "v": "map<string,int>"}
    bench.load(where, [(1, MORNING, [("a", 1)])], schema, **how)
    bench.load(where, [(1, NOON, [("a", 1), ("b", None)])], schema, **how)
    assert Counter(bench.rows(where, "at", "_is_current")) == {(MORNING, False): 1, (NOON, True): 1}


def test_append_adds_rows(warehouse: Bench) -> None:
    where = warehouse.table()
    first, second = [(1, "a", NOON, 1), (1, "a", NOON, 1)], [(2, None, None, None)]
    assert warehouse.load(where, first, ORDERS).rows == 2
    assert warehouse.load(where, second, ORDERS).rows == 1
    assert Counter(warehouse.rows(where)) == Counter(first + second)


def test_overwrite_replaces_every_row_and_keeps_views(warehouse: Bench) -> None:
    where = warehouse.table()
    warehouse.load(where, [(1, "a", NOON, 1), (2, "b", NOON, 2)], ORDERS, mode="overwrite")
    warehouse.ask(f"CREATE VIEW {where}_view AS SELECT id FROM {warehouse.sql(where)}")
    done = warehouse.load(where, [(3, "c", NOON, 3)], ORDERS, mode="overwrite")
    assert done.rows == 1
    assert warehouse.rows(where) == [(3, "c", NOON, 3)]
    assert warehouse.rows(f"{where}_view") == [(3,)]


def test_grants_survive_an_overwrite(server: Bench) -> None:
    where = server.table()
    server.load(where, [(1, "a", NOON, 1)], ORDERS, mode="overwrite")
    server.ask(f"GRANT SELECT ON {where} TO PUBLIC")
    server.load(where, [(2, "a", NOON, 1)], ORDERS, mode="overwrite")
    granted = "SELECT has_table_privilege('pg_monitor', %s, 'SELECT')"
    assert server.ask(granted, where) == [(True,)]


@pytest.mark.parametrize("mode", ["append", "overwrite", "merge", "scd2"])
def test_no_rows_make_an_empty_table(warehouse: Bench, mode: str) -> None:
    where = warehouse.table()
    done = warehouse.load(where, [], ORDERS, mode=mode, keys=KEYS, watermark="at")
    assert done.rows == 0
    assert warehouse.rows(where) == []
    assert list(warehouse.warehouse.columns(where) or ())[:4] == list(ORDERS)


def test_many_files_are_one_load(warehouse: Bench) -> None:
    where = warehouse.table()
    rows = [(number, "a", NOON, 1) for number in range(20)]
    staged = warehouse.stage(rows, ORDERS, files=4)
    assert warehouse.load(where, rows, ORDERS, staged=staged).rows == 20
    assert Counter(warehouse.rows(where)) == Counter(rows)


def test_an_older_row_never_replaces_a_newer(warehouse: Bench) -> None:
    where, how = warehouse.table(), {"mode": "merge", "keys": KEYS, "watermark": "at"}
    warehouse.load(where, [(1, "a", NOON, 1), (2, "a", NOON, 1), (3, "a", None, 1)], ORDERS, **how)
    came = [(1, "a", MORNING, 2), (2, "a", EVENING, 2), (3, "a", MORNING, 2), (4, "a", None, 2)]
    assert warehouse.load(where, came, ORDERS, **how).rows == 3
    assert Counter(warehouse.rows(where)) == Counter([(1, "a", NOON, 1), *came[1:]])


VERSIONED = {"id": "bigint", "version": "string", "amount": "int"}


@pytest.mark.parametrize(
    ("older", "newer"),
    [("9", "10"), ("-1.5", "+2"), ("2026-01-09T00:00:00+02:00", "2026-01-08T23:00:00Z")],
)
def test_a_text_watermark_is_compared_as_a_number_or_a_time(
    warehouse: Bench, older: str, newer: str
) -> None:
    where, how = warehouse.table(), {"mode": "merge", "keys": ("id",), "watermark": "version"}
    warehouse.load(where, [(1, newer, 1), (2, older, 1), (3, None, 1)], VERSIONED, **how)
    warehouse.load(where, [(1, older, 2), (2, newer, 2), (3, older, 2)], VERSIONED, **how)
    expected = [(1, newer, 1), (2, newer, 2), (3, older, 2)]
    assert Counter(warehouse.rows(where)) == Counter(expected)


def test_text_watermarks_that_nobody_can_compare_publish_nothing(warehouse: Bench) -> None:
    where, how = warehouse.table(), {"mode": "merge", "keys": ("id",), "watermark": "version"}
    warehouse.load(where, [(1, "v9", 1), (2, "x", 1)], VERSIONED, **how)
    with pytest.raises(WatermarkNotComparable):
        warehouse.load(where, [(1, "v10", 2), (2, "x", 2)], VERSIONED, **how)
    assert Counter(warehouse.rows(where)) == Counter([(1, "v9", 1), (2, "x", 1)])


def test_without_a_watermark_the_last_load_wins(warehouse: Bench) -> None:
    where, how = warehouse.table(), {"mode": "merge", "keys": KEYS}
    warehouse.load(where, [(None, None, EVENING, 1), (1, None, None, 1)], ORDERS, **how)
    warehouse.load(where, [(None, None, MORNING, 2)], ORDERS, **how)
    expected = [(None, None, MORNING, 2), (1, None, None, 1)]
    assert Counter(warehouse.rows(where)) == Counter(expected)


@few
@given(
    loads=st.lists(
        st.lists(changes, max_size=6, unique_by=lambda row: row[0]), min_size=1, max_size=3
    )
)
def test_merge_is_as_the_model(warehouse: Bench, loads: list[list[model.Row]]) -> None:
    where = warehouse.table()
    expected: dict[model.Key, model.Row] = {}
    for came in loads:
        warehouse.load(where, flat(came), ORDERS, mode="merge", keys=KEYS, watermark="at")
        expected = model.merged(expected, came)
        assert Counter(warehouse.rows(where)) == Counter(flat(list(expected.values())))


@few
@given(
    loads=st.lists(
        st.lists(changes, max_size=6, unique_by=lambda row: row[:2]), min_size=1, max_size=3
    )
)
def test_scd2_is_as_the_model(warehouse: Bench, loads: list[list[model.Row]]) -> None:
    where = warehouse.table()
    history: model.History = {}
    for came in loads:
        warehouse.load(where, flat(came), ORDERS, mode="scd2", keys=KEYS, watermark="at")
        history = model.with_versions(history, came)
        found = warehouse.rows(where, *KEYS, "amount", *VALIDITY)
        assert Counter(map(in_utc, found)) == Counter(model.as_rows(history))


def test_scd2_takes_late_and_repeated_changes(warehouse: Bench) -> None:
    where, how = warehouse.table(), {"mode": "scd2", "keys": ("id",), "watermark": "at"}
    columns = {**ORDERS, "_run_id": "string", "tags": "array<string>"}
    warehouse.load(where, [(1, "a", NOON, 1, "one", ["x", "y"])], columns, **how)
    warehouse.load(where, [(1, "a", EVENING, 1, "two", ["x", "y"])], columns, **how)
    late = [(1, "a", MORNING, 0, "three", None)]
    assert warehouse.load(where, late, columns, **how).rows == 3
    found = warehouse.rows(where, "amount", "_run_id", *VALIDITY)
    assert Counter(map(in_utc, found)) == Counter(
        [
            (0, "three", MORNING, NOON, False),
            (1, "one", NOON, None, True),
            (1, "two", EVENING, EVENING, False),
        ]
    )


def test_scd2_makes_a_version_of_a_repeat_once_a_late_change_falls_before_it(
    warehouse: Bench,
) -> None:
    where, how = warehouse.table(), {"mode": "scd2", "keys": ("id",), "watermark": "at"}
    for at, amount in ((MORNING, 1), (EVENING, 1), (NOON, 2)):
        warehouse.load(where, [(1, "a", at, amount)], ORDERS, **how)
    found = warehouse.rows(where, "amount", *VALIDITY)
    assert Counter(map(in_utc, found)) == Counter(
        [(1, MORNING, NOON, False), (2, NOON, EVENING, False), (1, EVENING, None, True)]
    )


def test_scd2_without_a_watermark_keeps_no_repeats(warehouse: Bench) -> None:
    """The moment is that of the run: nothing can arrive before it, and nobody needs them."""
    where, how = warehouse.table(), {"mode": "scd2", "keys": ("id",)}
    columns = {"id": "bigint", "amount": "int", "_valid_from": "timestamp"}
    columns |= {"_valid_to": "timestamp", "_is_current": "boolean"}
    for at in (MORNING, NOON):
        warehouse.load(where, [(1, 1, at.replace(tzinfo=UTC), None, True)], columns, **how)
    assert list(map(in_utc, warehouse.rows(where))) == [(1, 1, MORNING, None, True)]


@pytest.mark.parametrize("mode", ["append", "overwrite", "merge", "scd2"])
def test_a_full_refresh_starts_over(warehouse: Bench, mode: str) -> None:
    where, how = warehouse.table(), {"mode": mode, "keys": ("id",), "watermark": "at"}
    warehouse.load(where, [(1, "a", NOON, 1), (2, "a", NOON, 1)], ORDERS, **how)
    again = [(1, "b", MORNING, 2)]
    assert warehouse.load(where, again, ORDERS, **how, from_scratch=True).rows == 1
    assert warehouse.rows(where, *ORDERS) == again


def test_scd2_takes_the_moments_that_were_staged(warehouse: Bench) -> None:
    """The engine stages the columns of validity itself."""
    where, how = warehouse.table(), {"mode": "scd2", "keys": ("id",)}
    columns = {"id": "bigint", "amount": "int", "_valid_from": "timestamp"}
    columns |= {"_valid_to": "timestamp", "_is_current": "boolean"}
    first, then = NOON.replace(tzinfo=UTC), EVENING.replace(tzinfo=UTC)
    warehouse.load(where, [(1, 1, first, None, True)], columns, **how)
    warehouse.load(where, [(1, 2, then, None, True)], columns, **how)
    expected = [(1, 1, NOON, EVENING, False), (1, 2, EVENING, None, True)]
    assert Counter(map(in_utc, warehouse.rows(where))) == Counter(expected)


@pytest.mark.parametrize("mode", ["merge", "scd2"])
def test_keys_that_the_rows_lack_are_named(warehouse: Bench, mode: str) -> None:
    with pytest.raises(KeyMissing, match="'nr'"):
        warehouse.load(warehouse.table(), [], ORDERS, mode=mode, keys=("nr",), watermark="at")
    with pytest.raises(KeyMissing, match="a key"):
        warehouse.load(warehouse.table(), [], ORDERS, mode=mode, watermark="at")


FROM_FILES = {"id": "bigint", "_source_file": "string"}


def test_rows_of_rewritten_files_make_way_in_the_load_that_brings_them_again(
    warehouse: Bench,
) -> None:
    where = warehouse.table()
    quoted = 's3://raw/it\'s "b".csv'
    warehouse.load(where, [(1, "s3://raw/a.csv"), (2, quoted), (3, quoted)], FROM_FILES)
    many = (quoted, *(f"s3://raw/{number}.csv" for number in range(600)), "s3://raw/z.csv")
    done = warehouse.load(where, [(4, quoted)], FROM_FILES, replaced_files=many)
    assert done.rows == 1
    assert Counter(warehouse.rows(where)) == Counter([(1, "s3://raw/a.csv"), (4, quoted)])


def test_nothing_is_replaced_while_some_row_names_no_file(warehouse: Bench) -> None:
    where = warehouse.table()
    there = [(1, "s3://raw/a.csv"), (2, None)]
    warehouse.load(where, there, FROM_FILES)
    with pytest.raises(FileRewritten, match="do not say which file"):
        warehouse.load(
            where, [(3, "s3://raw/a.csv")], FROM_FILES, replaced_files=("s3://raw/a.csv",)
        )
    assert Counter(warehouse.rows(where)) == Counter(there)
    nameless = warehouse.table()
    warehouse.load(nameless, [(1,)], {"id": "bigint"})
    with pytest.raises(FileRewritten, match="do not say which file"):
        warehouse.load(nameless, [(2,)], {"id": "bigint"}, replaced_files=("s3://raw/a.csv",))
    assert warehouse.rows(nameless) == [(1,)]
