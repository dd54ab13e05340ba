"""Undo: any one past change, or everything since a revision, as a change of its own."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.changes import history, undo
from goldsmith.catalog.datasets import Target
from goldsmith.catalog.errors import ChangedSince, UnknownRevision
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.retries import RetryPolicy
from goldsmith.catalog.rows import Row
from goldsmith.catalog.schema import DECLARED
from plain_sql import PlainSql

MADE = datetime(2026, 1, 31, 8, tzinfo=UTC)
ORDERS = Pipeline(pipeline_id="orders", owner="ann", created_at=MADE)
LOAD = Stage(pipeline_id="orders", stage_order=1, target_id="bronze")


def put(catalog: Catalog, *rows: Row, actor: str = "ann") -> int:
    with catalog.change(actor=actor) as change:
        change.put(rows)
    return catalog.revision()


def remove(catalog: Catalog, *rows: Row) -> int:
    with catalog.change(actor="ann") as change:
        change.remove(rows)
    return catalog.revision()


def rows_of(catalog: Catalog) -> dict[str, dict[object, Row]]:
    """Every row there is, read anew."""
    rows = Catalog(catalog.engine).snapshot()
    return {kind.table.name: dict(rows.table(kind)) for kind in DECLARED}


def test_an_insert_is_undone_by_a_delete(catalog: Catalog) -> None:
    before = rows_of(catalog)
    revision = put(catalog, ORDERS, LOAD)
    undone = undo(catalog, actor="bob", revision=revision)
    assert undone == [(ORDERS, None), (LOAD, None)]
    assert rows_of(catalog) == before


def test_an_update_is_undone_to_the_row_before(catalog: Catalog) -> None:
    put(catalog, ORDERS)
    before = rows_of(catalog)
    revision = put(catalog, ORDERS.with_(owner="bob", enabled=False, tags=("a",)))
    undo(catalog, actor="bob", revision=revision)
    assert rows_of(catalog) == before


def test_a_delete_is_undone_by_an_insert_of_the_very_row(catalog: Catalog) -> None:
    put(catalog, ORDERS, LOAD)
    before = rows_of(catalog)
    undo(catalog, actor="bob", revision=remove(catalog, ORDERS, LOAD))
    assert rows_of(catalog) == before


def test_a_change_by_plain_sql_is_undone_like_any_other(catalog: Catalog, plain: PlainSql) -> None:
    put(catalog, ORDERS)
    before = rows_of(catalog)
    plain.run("UPDATE pipelines SET enabled = FALSE, owner = NULL")
    undo(catalog, actor="bob", revision=catalog.revision())
    assert rows_of(catalog) == before


def test_a_changed_key_is_undone(catalog: Catalog, plain: PlainSql) -> None:
    put(catalog, LOAD)
    before = rows_of(catalog)
    plain.run("UPDATE stages SET stage_order = 7")
    undo(catalog, actor="bob", revision=catalog.revision())
    assert rows_of(catalog) == before


def test_a_row_changed_twice_in_one_revision_goes_back_to_before_both(catalog: Catalog) -> None:
    put(catalog, ORDERS)
    before = rows_of(catalog)
    with catalog.change(actor="ann") as change:
        change.put([ORDERS.with_(owner="bob")])
        change.remove([ORDERS])
        change.put([ORDERS.with_(owner="carl"), LOAD])
        change.remove([LOAD])
    undo(catalog, actor="bob", revision=catalog.revision())
    assert rows_of(catalog) == before


def test_an_undo_says_who_and_why_and_is_a_revision_of_its_own(catalog: Catalog) -> None:
    revision = put(catalog, ORDERS)
    undo(catalog, actor="bob", revision=revision)
    undo(catalog, actor="carl", revision=revision + 1, reason="needed after all")
    newest, taken_back, *_ = history(catalog)
    assert (taken_back.revision, taken_back.actor) == (revision + 1, "bob")
    assert taken_back.reason == f"undo of revision {revision}"
    assert (newest.revision, newest.actor) == (revision + 2, "carl")
    assert newest.reason == "needed after all"


def test_an_undo_can_be_undone(catalog: Catalog) -> None:
    put(catalog, ORDERS, LOAD)
    revision = put(catalog, ORDERS.with_(owner="bob"), LOAD.with_(stage_name="load"))
    after = rows_of(catalog)
    undo(catalog, actor="ann", revision=revision)
    assert rows_of(catalog) != after
    undo(catalog, actor="ann", revision=catalog.revision())
    assert rows_of(catalog) == after


def test_everything_since_a_revision_is_undone_at_once(catalog: Catalog, plain: PlainSql) -> None:
    since = put(catalog, ORDERS, LOAD)
    before = rows_of(catalog)
    put(catalog, ORDERS.with_(owner="bob"), Target(target_id="gold"))
    plain.run("UPDATE pipelines SET owner = 'carl', sla_minutes = 5")
    remove(catalog, LOAD)
    put(catalog, LOAD.with_(stage_name="another"))
    plain.run("DELETE FROM retry_policies")
    changed = catalog.revision()
    undo(catalog, actor="bob", since=since)
    assert rows_of(catalog) == before
    assert catalog.revision() == changed + 1
    assert history(catalog)[0].reason == f"undo back to revision {since}"


def test_an_earlier_change_is_undone_while_later_ones_of_other_rows_stay(catalog: Catalog) -> None:
    first = put(catalog, ORDERS)
    put(catalog, LOAD)
    undo(catalog, actor="bob", revision=first)
    rows = catalog.snapshot()
    assert rows.get(Pipeline, "orders") is None
    assert rows.get(Stage, "orders", 1) == LOAD


def test_a_row_that_was_changed_since_is_refused_and_both_are_shown(catalog: Catalog) -> None:
    put(catalog, ORDERS)
    second = put(catalog, ORDERS.with_(owner="bob"), LOAD)
    third = put(catalog, ORDERS.with_(owner="carl"))
    before = rows_of(catalog)
    with pytest.raises(ChangedSince) as raised:
        undo(catalog, actor="dora", revision=second)
    error = raised.value
    assert (error.table, error.key) == ("pipelines", "orders")
    assert (error.revision, error.later) == (second, third)
    assert error.undone_to is not None
    assert error.now is not None
    assert (error.undone_to["owner"], error.now["owner"]) == ("ann", "carl")
    assert "owner='ann'" in str(error)
    assert "owner='carl'" in str(error)
    assert f"--since {second - 1}" in error.hint
    assert rows_of(catalog) == before
    assert catalog.revision() == third


def test_changes_are_undone_one_by_one_the_newest_first(catalog: Catalog) -> None:
    put(catalog, ORDERS)
    before = rows_of(catalog)
    changed = [put(catalog, ORDERS.with_(owner=owner)) for owner in ("bob", "carl", "dora")]
    changed += [remove(catalog, ORDERS), put(catalog, ORDERS.with_(owner="emil"))]
    for revision in reversed(changed):
        undo(catalog, actor="fay", revision=revision)
    assert rows_of(catalog) == before


def test_a_row_that_is_again_as_the_revision_left_it_can_be_undone(
    catalog: Catalog, plain: PlainSql
) -> None:
    put(catalog, ORDERS)
    before = rows_of(catalog)
    revision = put(catalog, ORDERS.with_(owner="bob"))
    plain.run("UPDATE pipelines SET owner = 'eve'")
    plain.run("UPDATE pipelines SET owner = 'bob'")
    undo(catalog, actor="ann", revision=revision)
    assert rows_of(catalog) == before


def test_an_undo_calls_whoever_wants_to_know_in_its_own_transaction(catalog: Catalog) -> None:
    revision = put(catalog, ORDERS, LOAD)
    calls: list[tuple[int, int]] = []
    undo(catalog, actor="ann", revision=revision, then=lambda c, n: calls.append((c.revision, n)))
    assert calls == [(revision + 1, 2)]
    undo(catalog, actor="ann", revision=revision + 1, dry_run=True, then=lambda *_: calls.clear())
    assert calls == [(revision + 1, 2)]


def test_a_row_deleted_since_is_refused_and_said_to_be_gone(catalog: Catalog) -> None:
    revision = put(catalog, ORDERS)
    remove(catalog, ORDERS)
    with pytest.raises(ChangedSince, match=r"it is now: +not there"):
        undo(catalog, actor="bob", revision=revision)


@pytest.mark.parametrize("arguments", [{"revision": 10_000}, {"since": 10_000}, {"since": -1}])
def test_a_revision_that_never_was_is_refused(arguments: dict[str, int], catalog: Catalog) -> None:
    put(catalog, ORDERS)
    newest = catalog.revision()
    with pytest.raises(UnknownRevision) as raised:
        undo(catalog, actor="bob", **arguments)
    assert raised.value.newest == newest
    assert catalog.revision() == newest


@pytest.mark.parametrize("revision", [0, -1])
def test_there_is_no_revision_before_the_first(revision: int, catalog: Catalog) -> None:
    with pytest.raises(UnknownRevision):
        undo(catalog, actor="bob", revision=revision)


def test_the_undo_itself_is_not_one_of_the_revisions_it_can_undo(catalog: Catalog) -> None:
    revision = put(catalog, ORDERS)
    with pytest.raises(UnknownRevision):
        undo(catalog, actor="bob", revision=revision + 1)


def test_columns_the_database_fills_in_come_back_exactly(catalog: Catalog, plain: PlainSql) -> None:
    flag = Flag(
        entity_type="pipeline",
        entity_id="orders",
        flag_name="enabled",
        flag_value=True,
        updated_at=MADE,
        updated_by="ann",
    )
    put(catalog, ORDERS, flag)
    plain.run("UPDATE pipelines SET created_at = NULL, owner = 'bob'")
    nobody = catalog.revision()
    plain.run("UPDATE pipelines SET created_at = '2020-02-02 02:02:02'")
    plain.run("UPDATE control_flags SET flag_value = FALSE, updated_by = 'eve', updated_at = NULL")
    undo(catalog, actor="bob", since=nobody)
    rows = catalog.snapshot()
    assert rows.get(Pipeline, "orders") == ORDERS.with_(owner="bob", created_at=None)
    assert rows.get(Flag, *flag.key) == flag
    undo(catalog, actor="bob", since=nobody - 1)
    assert catalog.snapshot().get(Pipeline, "orders") == ORDERS


def test_a_shipped_row_is_marked_as_shipped_again(catalog: Catalog) -> None:
    shipped = catalog.snapshot().get(RetryPolicy, "std_retry")
    revision = put(catalog, RetryPolicy(retry_id="std_retry", max_retries=9))
    undo(catalog, actor="ann", revision=revision)
    assert catalog.snapshot().get(RetryPolicy, "std_retry") == shipped


def test_a_dry_run_says_what_it_would_do_and_changes_nothing(catalog: Catalog) -> None:
    put(catalog, ORDERS)
    revision = put(catalog, ORDERS.with_(owner="bob"), LOAD)
    before, changes_before = rows_of(catalog), history(catalog)
    undone = undo(catalog, actor="ann", revision=revision, dry_run=True)
    assert undone == [(ORDERS.with_(owner="bob"), ORDERS), (LOAD, None)]
    assert rows_of(catalog) == before
    assert history(catalog) == changes_before
    assert catalog.revision() == revision


def test_undoing_nothing_changes_nothing(catalog: Catalog) -> None:
    revision = put(catalog, ORDERS)
    assert undo(catalog, actor="ann", since=revision) == []
    assert catalog.revision() == revision
