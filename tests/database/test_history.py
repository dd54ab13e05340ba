"""Every change of a declared row is history, whoever made it and however."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from goldsmith.catalog import snapshot
from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.changes import RowChange, history
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.errors import RowRefused
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.retries import RetryPolicy
from goldsmith.catalog.rows import Row
from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.schema import BY_TABLE, DECLARED
from goldsmith.catalog.throttles import Throttle
from plain_sql import PlainSql

ORDERS = Pipeline(pipeline_id="orders", owner="ann", tags=("finance", "daily"))
LOAD = Stage(pipeline_id="orders", stage_order=1, target_id="bronze")


@pytest.fixture
def start(catalog: Catalog) -> int:
    """The revision every test begins at."""
    return catalog.revision()


@pytest.fixture
def direct(plain: PlainSql) -> str:
    """Who a change by plain SQL is said to be by."""
    return "direct" if plain.is_sqlite else "postgres"


def since(catalog: Catalog, revision: int) -> list[RowChange]:
    """The changes after a revision, oldest first."""
    return history(catalog, since=revision)[::-1]


def before(change: RowChange) -> Row | None:
    return None if change.before is None else BY_TABLE[change.table].from_image(change.before)


def after(change: RowChange) -> Row | None:
    return None if change.after is None else BY_TABLE[change.table].from_image(change.after)


def put(catalog: Catalog, *rows: Row) -> None:
    with catalog.change(actor="ann") as change:
        change.put(rows)


def stored(row: Row | None) -> Row | None:
    """A row without the moment the database put in."""
    return row.with_(created_at=None) if isinstance(row, Pipeline) else row


def test_an_insert_of_ours_says_who_why_and_the_row_after(catalog: Catalog, start: int) -> None:
    earliest = datetime.now(UTC) - timedelta(seconds=5)
    with catalog.change(actor="ann", reason="a new shop") as change:
        change.put([ORDERS])
    [found] = since(catalog, start)
    assert (found.actor, found.reason, found.operation) == ("ann", "a new shop", "insert")
    assert (found.table, found.key) == ("pipelines", ("orders",))
    assert found.before is None
    assert stored(after(found)) == ORDERS
    assert earliest <= found.at <= datetime.now(UTC) + timedelta(seconds=5)


def test_an_update_of_ours_says_the_row_before_and_after(catalog: Catalog) -> None:
    put(catalog, ORDERS)
    start = catalog.revision()
    with catalog.change(actor="bob", reason="moved teams") as change:
        change.put([ORDERS.with_(owner="bob")])
    [found] = since(catalog, start)
    assert (found.actor, found.reason, found.operation) == ("bob", "moved teams", "update")
    assert stored(before(found)) == ORDERS
    assert stored(after(found)) == ORDERS.with_(owner="bob")
    assert found.differences == {"owner": ("ann", "bob")}


def test_a_delete_of_ours_says_the_row_before(catalog: Catalog) -> None:
    put(catalog, ORDERS)
    start = catalog.revision()
    with catalog.change(actor="bob", reason="closed") as change:
        change.remove([ORDERS])
    [found] = since(catalog, start)
    assert (found.actor, found.reason, found.operation) == ("bob", "closed", "delete")
    assert stored(before(found)) == ORDERS
    assert found.after is None


def test_all_rows_of_one_change_of_ours_share_one_revision(catalog: Catalog, start: int) -> None:
    with catalog.change(actor="ann") as change:
        change.put([ORDERS, LOAD, Source(source_id="raw")])
        change.put([LOAD.with_(stage_name="load")])
        change.remove([Source(source_id="raw")])
    found = since(catalog, start)
    assert [(c.table, c.operation) for c in found] == [
        ("pipelines", "insert"),
        ("stages", "insert"),
        ("sources", "insert"),
        ("stages", "update"),
        ("sources", "delete"),
    ]
    assert {c.revision for c in found} == {start + 1}
    assert catalog.revision() == start + 1


def test_a_change_that_fails_leaves_neither_rows_nor_history(catalog: Catalog, start: int) -> None:
    with pytest.raises(RowRefused), catalog.change(actor="ann") as change:
        change.put([ORDERS, Throttle(throttle_id="odd", threshold=float("inf"))])
    assert catalog.snapshot().get(Pipeline, "orders") is None
    assert since(catalog, start) == []
    assert catalog.revision() == start


def test_an_abandoned_change_leaves_neither_rows_nor_history(catalog: Catalog, start: int) -> None:
    with catalog.change(actor="ann") as change:
        change.put([ORDERS])
        change.abandon()
    assert catalog.snapshot().get(Pipeline, "orders") is None
    assert catalog.revision() == start


def test_plain_sql_is_recorded_as_its_session_users(
    catalog: Catalog, plain: PlainSql, start: int, direct: str
) -> None:
    plain.run("INSERT INTO targets (target_id, type) VALUES ('gold', 's3')")
    plain.run("UPDATE targets SET type = 'redshift' WHERE target_id = 'gold'")
    plain.run("DELETE FROM targets WHERE target_id = 'gold'")
    lake, warehouse = Target(target_id="gold", type="s3"), Target(target_id="gold", type="redshift")
    found = since(catalog, start)
    assert [(c.operation, before(c), after(c)) for c in found] == [
        ("insert", None, lake),
        ("update", lake, warehouse),
        ("delete", warehouse, None),
    ]
    assert [c.revision for c in found] == [start + 1, start + 2, start + 3]
    assert {(c.actor, c.reason) for c in found} == {(direct, None)}


def test_plain_sql_after_a_change_of_ours_is_not_said_to_be_ours(
    catalog: Catalog, plain: PlainSql, direct: str
) -> None:
    put(catalog, ORDERS)
    plain.run("UPDATE pipelines SET owner = 'carl' WHERE pipeline_id = 'orders'")
    put(catalog, ORDERS)
    assert [c.actor for c in history(catalog, table="pipelines")] == ["ann", direct, "ann"]


def test_every_row_of_one_plain_statement_is_recorded(catalog: Catalog, plain: PlainSql) -> None:
    put(catalog, *(Target(target_id=name) for name in ("a", "b", "c")))
    start = catalog.revision()
    plain.run("UPDATE targets SET type = 's3'")
    found = since(catalog, start)
    assert sorted(c.key for c in found) == [("a",), ("b",), ("c",)]
    assert catalog.revision() > start


def test_a_plain_transaction_rolled_back_leaves_no_history(
    catalog: Catalog, plain: PlainSql, start: int
) -> None:
    plain.run("BEGIN")
    plain.run("INSERT INTO targets (target_id) VALUES ('gold')")
    plain.run("ROLLBACK")
    assert since(catalog, start) == []
    assert catalog.revision() == start


def test_an_update_to_the_same_values_records_nothing(catalog: Catalog, plain: PlainSql) -> None:
    put(catalog, ORDERS, RetryPolicy(retry_id="odd", multiplier=0.1))
    start = catalog.revision()
    plain.run("UPDATE pipelines SET owner = owner, enabled = enabled")
    plain.run("UPDATE retry_policies SET multiplier = 0.1 WHERE retry_id = 'odd'")
    assert since(catalog, start) == []
    assert catalog.revision() == start


def test_putting_the_same_row_again_records_nothing(catalog: Catalog) -> None:
    put(catalog, ORDERS)
    start = catalog.revision()
    put(catalog, ORDERS)
    assert since(catalog, start) == []


def test_a_changed_primary_key_is_a_delete_and_an_insert(catalog: Catalog, plain: PlainSql) -> None:
    put(catalog, LOAD)
    start = catalog.revision()
    plain.run("UPDATE stages SET stage_order = 7 WHERE pipeline_id = 'orders'")
    assert [(c.operation, c.key, before(c), after(c)) for c in since(catalog, start)] == [
        ("delete", ("orders", 1), LOAD, None),
        ("insert", ("orders", 7), None, LOAD.with_(stage_order=7)),
    ]


def test_insert_or_replace_on_sqlite_is_an_update_with_the_row_it_replaced(
    catalog: Catalog, plain: PlainSql
) -> None:
    if not plain.is_sqlite:
        pytest.skip("PostgreSQL has no INSERT OR REPLACE")
    put(catalog, Target(target_id="gold", type="s3", options={"a": 1}))
    start = catalog.revision()
    plain.run("INSERT OR REPLACE INTO targets (target_id, type) VALUES ('gold', 'duckdb')")
    plain.run("INSERT OR REPLACE INTO targets (target_id, type) VALUES ('silver', 's3')")
    plain.run("DELETE FROM targets WHERE target_id = 'silver'")
    plain.run("INSERT OR REPLACE INTO targets (target_id, type) VALUES ('silver', 's3')")
    silver = Target(target_id="silver", type="s3")
    assert [(c.operation, before(c), after(c)) for c in since(catalog, start)] == [
        (
            "update",
            Target(target_id="gold", type="s3", options={"a": 1}),
            Target(target_id="gold", type="duckdb"),
        ),
        ("insert", None, silver),
        ("delete", silver, None),
        ("insert", None, silver),
    ]


def test_truncate_on_postgresql_is_recorded_as_deletes(catalog: Catalog, plain: PlainSql) -> None:
    if plain.is_sqlite:
        pytest.skip("SQLite has no TRUNCATE")
    put(catalog, Target(target_id="gold"), Target(target_id="silver"))
    start = catalog.revision()
    plain.run("TRUNCATE targets")
    assert [(c.operation, c.key) for c in since(catalog, start)] == [
        ("delete", ("gold",)),
        ("delete", ("silver",)),
    ]
    assert not catalog.snapshot().rows(Target)


NUMBERS = (0.1 + 0.2, 1e-300, 5e-324, 9.87654321e99, 1e23, 2.0**60, 1 / 3, 123456789.123456789)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_keeps_all_its_digits(number: float, catalog: Catalog, start: int) -> None:
    put(catalog, Throttle(throttle_id="t", threshold=number))
    [found] = since(catalog, start)
    assert after(found) == Throttle(throttle_id="t", threshold=number)
    assert catalog.snapshot().get(Throttle, "t") == Throttle(throttle_id="t", threshold=number)


@pytest.mark.parametrize(
    "value",
    [
        *NUMBERS,
        1.7e308,
        2**63 - 1,
        -(2**63),
        10**30,
        True,
        1,
        None,
        "1e+23",
        'a "quoted" 1e+23',
        "ü\n☃😀",
    ],
    ids=repr,
)
def test_a_json_value_keeps_all_its_digits_and_its_type(
    value: Any, catalog: Catalog, start: int
) -> None:
    row = Target(target_id="t", options={"value": value, "inner": [value, {"value": value}]})
    put(catalog, row)
    [found] = since(catalog, start)
    for read in (after(found), catalog.snapshot().get(Target, "t")):
        assert isinstance(read, Target)
        assert read == row
        assert type(read.options["value"]) is type(value)


def test_moments_keep_their_microseconds(catalog: Catalog, start: int) -> None:
    when = datetime(2026, 3, 29, 1, 59, 59, 123456, tzinfo=UTC)
    row = Flag(entity_type="pipeline", entity_id="a", flag_name="enabled", ends_at=when)
    put(catalog, row.with_(updated_at=when))
    [found] = since(catalog, start)
    assert after(found) == row.with_(updated_at=when)
    assert catalog.snapshot().get(Flag, *row.key) == row.with_(updated_at=when)


def test_history_reads_the_same_on_both_databases(catalog: Catalog, start: int) -> None:
    when = datetime(2026, 3, 29, 1, 59, 59, tzinfo=UTC)
    put(
        catalog,
        Flag(
            entity_type="stage",
            entity_id="orders-1",
            flag_name="enabled",
            flag_value=False,
            updated_at=when,
            updated_by="ann",
        ),
    )
    [found] = since(catalog, start)
    assert found.as_plain() | {"at": None} == {
        "revision": start + 1,
        "at": None,
        "actor": "ann",
        "reason": None,
        "table": "control_flags",
        "key": ["stage", "orders-1", "enabled"],
        "operation": "insert",
        "before": None,
        "after": {
            "entity_type": "stage",
            "entity_id": "orders-1",
            "flag_name": "enabled",
            "flag_value": False,
            "updated_at": "2026-03-29T01:59:59+00:00",
            "updated_by": "ann",
            "reason": None,
            "starts_at": None,
            "ends_at": None,
        },
    }


def test_history_is_found_by_table_by_key_and_by_revision(catalog: Catalog, start: int) -> None:
    put(catalog, ORDERS, LOAD)
    put(catalog, LOAD.with_(stage_name="load"))
    assert [c.operation for c in history(catalog, table="stages")] == ["update", "insert"]
    assert [c.table for c in history(catalog, key=("orders",), since=start)] == ["pipelines"]
    assert len(history(catalog, key=("orders", "1"))) == 2
    assert len(history(catalog, key=("orders", "1"), most=1)) == 1
    assert len(history(catalog, revision=start + 1)) == 2
    assert len(history(catalog, most=1)) == 1


Edit = Callable[[Catalog, PlainSql], None]


def _put_new(catalog: Catalog, _plain: PlainSql) -> None:
    put(catalog, Source(source_id="new", options={"header": True}))


def _put_over(catalog: Catalog, _plain: PlainSql) -> None:
    put(catalog, ORDERS.with_(enabled=False, tags=()))


def _remove(catalog: Catalog, _plain: PlainSql) -> None:
    with catalog.change(actor="ann") as change:
        change.remove([ORDERS])


def _plain_update(_catalog: Catalog, plain: PlainSql) -> None:
    plain.run('UPDATE validation_rules SET check_def = \'[{"type": "x", "max": 1e-300}]\'')


def _plain_insert(_catalog: Catalog, plain: PlainSql) -> None:
    plain.run(
        "INSERT INTO control_flags (entity_type, entity_id, flag_name, flag_value, ends_at)"
        " VALUES ('pipeline', 'orders', 'enabled', FALSE, '2026-01-31 08:00:00')"
    )


def _plain_delete(_catalog: Catalog, plain: PlainSql) -> None:
    plain.run("DELETE FROM stages")


def _plain_key(_catalog: Catalog, plain: PlainSql) -> None:
    plain.run("UPDATE stages SET pipeline_id = 'moved', stage_order = 3")


def _plain_names(_catalog: Catalog, plain: PlainSql) -> None:
    plain.run("UPDATE pipelines SET tags = 'one, two', schedule = 'every 15m'")


def _plain_policy(_catalog: Catalog, plain: PlainSql) -> None:
    plain.run('UPDATE stages SET schema_policy = \'{"columns": "freeze"}\', keys = \'["a,b"]\'')


def _plain_transaction(_catalog: Catalog, plain: PlainSql) -> None:
    plain.run("BEGIN")
    plain.run("DELETE FROM stages")
    plain.run("INSERT INTO stages (pipeline_id, stage_order) VALUES ('orders', 1)")
    plain.run("UPDATE stages SET stage_name = 'again'")
    plain.run("COMMIT")


def _plain_replace(_catalog: Catalog, plain: PlainSql) -> None:
    statement = "INSERT OR REPLACE INTO targets (target_id, type) VALUES ('bronze', 'duckdb')"
    if not plain.is_sqlite:
        statement = statement.replace(" OR REPLACE", "")
        statement += " ON CONFLICT (target_id) DO UPDATE SET type = excluded.type"
    plain.run(statement)


@pytest.fixture
def watched(catalog: Catalog, catalog_url: str) -> Iterator[Catalog]:
    """A catalog with rows in it that somebody has read before."""
    put(catalog, ORDERS, LOAD, Target(target_id="bronze", type="s3"), RuleSet(rule_set_id="none"))
    other = Catalog.open(catalog_url)
    other.snapshot()
    yield other
    other.close()


@pytest.mark.parametrize(
    "edit",
    [
        _put_new,
        _put_over,
        _remove,
        _plain_update,
        _plain_insert,
        _plain_delete,
        _plain_key,
        _plain_names,
        _plain_policy,
        _plain_transaction,
        _plain_replace,
    ],
    ids=lambda edit: edit.__name__.strip("_"),
)
def test_a_snapshot_refreshed_is_the_one_loaded_anew(
    edit: Edit, catalog: Catalog, watched: Catalog, plain: PlainSql
) -> None:
    before = watched.snapshot()
    assert len(before.stages_of) == len(before.writers_of) == 1  # worked out, to be taken over
    edit(catalog, plain)
    refreshed = watched.snapshot()
    anew = Catalog(catalog.engine).snapshot()
    assert refreshed.revision == anew.revision == catalog.revision()
    for kind in DECLARED:
        assert refreshed.table(kind) == anew.table(kind)
    assert refreshed.stages_of == anew.stages_of
    assert refreshed.writers_of == anew.writers_of


def test_a_snapshot_shares_every_row_that_did_not_change(
    catalog: Catalog, watched: Catalog
) -> None:
    first = watched.snapshot()
    put(catalog, LOAD.with_(stage_name="load"))
    second = watched.snapshot()
    assert list(second.changed_since(first)) == [(Stage, ("orders", 1))]
    assert second.table(Pipeline) is first.table(Pipeline)
    assert watched.snapshot() is second


def test_after_very_many_changes_a_snapshot_is_read_anew(
    catalog: Catalog, watched: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "_MOST_CHANGES", 3)
    put(catalog, *(Target(target_id=f"t{number}") for number in range(5)))
    assert watched.snapshot().table(Target) == Catalog(catalog.engine).snapshot().table(Target)


def test_a_backup_put_in_place_of_the_catalog_is_read_anew(
    catalog: Catalog, watched: Catalog, plain: PlainSql
) -> None:
    newest = watched.snapshot().revision
    plain.run(f"UPDATE catalog_revision SET revision = {newest - 1}")
    assert watched.snapshot().revision == newest - 1
