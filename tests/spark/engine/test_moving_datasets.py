"""Rows that go along with a dataset's new id, layer or location; and tables that are broken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from goldsmith.engine import faults
from goldsmith.engine.maintenance.move_dataset import CannotMove, Move, MoveClashes, move, plan_move
from goldsmith.engine.quarantine import quarantine_store
from goldsmith.planning import dataset_info
from goldsmith.planning.ledger_problems import TableMoved, TargetRenamed
from goldsmith.planning.ledgers import Ledgers
from goldsmith.storage.lake_tables import TableBroken, metadata_files
from spark.engine.conftest import Bench
from spark.engine.identity import gold, ids, rename, shop, statuses, unrecord

__all__ = ["shop"]


def moved(bench: Bench, old: str, new: str) -> Move:
    resources, ledgers = bench.resources(), Ledgers(bench.runtime.catalog)
    old, new = old.replace("@", bench.tag), new.replace("@", bench.tag)
    planned = plan_move(bench.runtime.catalog_indexer.catalog_index(), ledgers, resources, old, new)
    move(resources, planned, "test")
    return planned


def other_layer(bench: Bench) -> None:
    bench.sql(
        "UPDATE stages SET layer = 'gold', write_mode = 'append' WHERE target_id = 'silver_@'"
    )


def other_location(bench: Bench) -> None:
    bench.sql("UPDATE targets SET location = 'other_@.orders' WHERE target_id = 'gold_@'")


#: By name: what changes, the old and the new id, the table afterwards, and the point of death that
#: `make test` tries; `make soak` tries each of them at every point.
MOVES: dict[str, tuple[Callable[[Bench], object], str, str, str, str | None]] = {
    "renamed in the lake": (
        lambda b: rename(b, "silver_@", "silver.new_@"),
        "silver_@",
        "silver.new_@",
        "lake.silver.silver__new_@",
        "move-noted",
    ),
    "another layer": (other_layer, "silver_@", "silver_@", "lake.gold.silver_@", None),
    "another schema": (other_location, "gold_@", "gold_@", "other_@.orders", "move-renamed"),
    "renamed": (lambda b: rename(b, "gold_@", "mart_@"), "gold_@", "mart_@", "@.daily", None),
}


@pytest.mark.parametrize(
    ("change", "old", "new", "table", "killed_at"),
    [
        pytest.param(
            *move,
            killed_at,
            id=f"{name}-{killed_at}",
            marks=() if killed_at == quick else pytest.mark.soak,
        )
        for name, (*move, quick) in MOVES.items()
        for killed_at in (None, "move-noted", "move-renamed")
    ],
)
def test_a_moved_dataset_keeps_its_rows_and_goes_on(
    shop: Bench,
    change: Callable[[Bench], object],
    old: str,
    new: str,
    table: str,
    killed_at: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    change(shop)
    if killed_at is not None:
        with monkeypatch.context() as patched:
            patched.setattr(faults, "reach", kill_at(killed_at))
            with pytest.raises(Killed):
                moved(shop, old, new)
        with pytest.raises((TargetRenamed, TableMoved)):
            shop.run()
    moved(shop, old, new)
    statuses(shop.run(), "skipped")
    shop.bring("b.json", {"id": 3})
    statuses(shop.run(), "succeeded")
    name = table.replace("@", shop.tag)
    if name.startswith("lake."):
        assert sorted(row[0] for row in shop.spark.table(name).select("id").collect()) == [1, 2, 3]
        assert gold(shop) == [1, 2, 3]
    else:
        assert gold(shop, name) == [1, 2, 3]
    assert shop.leftovers() == []


@pytest.mark.parametrize(
    ("change", "order", "old"),
    [
        pytest.param(other_layer, 2, "silver_@", id="lake"),
        pytest.param(other_location, 3, "gold_@", id="warehouse"),
    ],
)
def test_a_run_killed_before_its_target_moved_is_settled_in_the_table_it_wrote(
    shop: Bench, change: Callable[[Bench], None], order: int, old: str
) -> None:
    shop.bring("b.json", {"id": 3})
    unrecord(shop, shop.run()[order])
    change(shop)
    assert shop.run()[order].error_code == "TableMoved"
    moved(shop, old, old)
    shop.bring("c.json", {"id": 4})
    statuses(shop.run(), "succeeded")
    assert gold(shop, None if order == 2 else f"other_{shop.tag}.orders") == [1, 2, 3, 4]


class Killed(Exception):
    """The process was killed here."""


def kill_at(point: str) -> Callable[[str], None]:
    def reach(name: str) -> None:
        if name == point:
            raise Killed

    return reach


def test_a_move_to_a_name_that_is_taken_is_refused(shop: Bench) -> None:
    rename(shop, "silver_@", "silver_new_@")
    shop.spark.sql(f"CREATE TABLE lake.silver.silver_new_{shop.tag} (id INT) USING iceberg")
    with pytest.raises(MoveClashes):
        moved(shop, "silver_@", "silver_new_@")
    assert ids(shop, "silver") == [1, 2]


def test_a_dataset_that_a_stage_still_writes_is_not_moved(shop: Bench) -> None:
    with pytest.raises(CannotMove):
        moved(shop, "bronze_@", "silver_@")


def test_the_quarantine_moves_with_its_dataset(shop: Bench) -> None:
    shop.bring("bad.json", '{"id": ')
    done = shop.run()
    assert done[1].rows_quarantined == 1
    rename(shop, "bronze_@", "bronze_new_@")
    moved(shop, "bronze_@", "bronze_new_@")
    storage, journal = shop.runtime.storage, shop.runtime.journal
    held = quarantine_store.quarantined_rows(
        storage, journal, [f"bronze_{shop.tag}", f"bronze_new_{shop.tag}"]
    )
    assert [(quarantined.dataset, quarantined.rows) for quarantined in held] == [
        (f"bronze_new_{shop.tag}", 1)
    ]


def metadata_file(bench: Bench, layer: str) -> Path:
    name = (layer, f"{layer}_{bench.tag}")
    return Path(metadata_files(bench.runtime.storage)[name])


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda file: file.unlink(), id="gone"),
        pytest.param(lambda file: file.write_bytes(file.read_bytes()[:100]), id="cut"),
        pytest.param(
            lambda file: file.write_bytes(b"\xff\x00garbage"),
            id="garbage",
            marks=pytest.mark.soak,
        ),
        pytest.param(lambda file: file.write_text("{}"), id="of nothing", marks=pytest.mark.soak),
    ],
)
@pytest.mark.parametrize("layer", ["bronze", pytest.param("silver", marks=pytest.mark.soak)])
def test_a_table_whose_metadata_is_broken_is_told_by_a_code(
    shop: Bench, layer: str, spoil: Callable[[Path], object]
) -> None:
    shop.bring("b.json", {"id": 3})
    file = metadata_file(shop, layer)
    kept = file.read_bytes()
    spoil(file)
    with pytest.raises(TableBroken):
        shop.run()
    catalog_index = shop.runtime.catalog_indexer.catalog_index()
    dataset = dataset_info.find(catalog_index.rows, f"{layer}_{shop.tag}")
    for look in (dataset_info.dataset_info, lambda d, p: dataset_info.sample(d, p, 3)):
        with pytest.raises(TableBroken):
            look(dataset, shop.runtime.storage)
    file.write_bytes(kept)
    statuses(shop.run(), "succeeded")
    assert ids(shop, "silver") == gold(shop) == [1, 2, 3]
