"""A load in micro-batches fills one staging table; nothing is seen of it before the publish."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import pytest

from goldsmith.engine.warehouses.publish import LoadGivenUp
from goldsmith.engine.warehouses.warehouse import Load, LoadRefused
from goldsmith.errors import GoldsmithError
from goldsmith.storage import staging
from warehouses.bench import Bench, nowhere

ITEMS = {"id": "bigint", "name": "string"}
ROWS = [(number, f"row {number}") for number in range(7)]


class Stopped(Exception):
    """The test stopped a load between two micro-batches."""


def staged(bench: Bench, mode: str, *, stops_after: int = 9) -> tuple[Load, list[int]]:
    """A load of four files in groups of two; notes how many rows readers see before each."""
    where, seen = bench.table(), list[int]()
    bench.load(where, [(100, "before")], ITEMS)
    folder = bench.stage(ROWS, ITEMS, files=4)
    files = [file for file, _ in staging.sized(bench.storage, folder)]

    def groups() -> Generator[tuple[str, ...]]:
        for number, group in enumerate((files[:2], files[2:])):
            if number == stops_after:
                raise Stopped
            seen.append(len(bench.rows(where)))
            yield tuple(group)

    load = bench.order(where, [], ITEMS, mode=mode, keys=("id",))
    return replace(load, staged=folder, rows=len(ROWS), groups=groups), seen


@pytest.mark.parametrize("mode", ["append", "overwrite", "merge"])
def test_all_micro_batches_are_published_at_once(warehouse: Bench, mode: str) -> None:
    load, seen = staged(warehouse, mode)
    done = warehouse.warehouse.load(load, nowhere)
    before = [] if mode == "overwrite" else [(100, "before")]
    assert sorted(warehouse.rows(load.location)) == sorted([*ROWS, *before])
    assert (done.rows, seen) == (7, [1, 1])
    assert warehouse.leftovers() == []
    # The ledger knows it, so a second time nothing is loaded.
    assert warehouse.warehouse.load(load, nowhere) == done


def test_a_load_broken_off_between_micro_batches_is_cleaned_and_given_up(warehouse: Bench) -> None:
    load, seen = staged(warehouse, "append", stops_after=1)
    with pytest.raises(Stopped):
        warehouse.warehouse.load(load, nowhere)
    assert (warehouse.rows(load.location), seen) == ([(100, "before")], [1])
    warehouse.warehouse.clean(load.location, load.stage_run_id)
    assert warehouse.leftovers() == []
    with pytest.raises(LoadGivenUp):
        warehouse.warehouse.load(replace(load, groups=None), nowhere)
    assert warehouse.leftovers() == []


def test_a_load_that_another_process_cleaned_publishes_nothing(warehouse: Bench) -> None:
    load, _seen = staged(warehouse, "append")

    def cleaned() -> Generator[tuple[str, ...]]:
        assert load.groups is not None
        for group in load.groups():
            yield group
            warehouse.warehouse.clean(load.location, load.stage_run_id)

    with pytest.raises(GoldsmithError) as refused:
        warehouse.warehouse.load(replace(load, groups=cleaned), nowhere)
    assert isinstance(refused.value, LoadGivenUp | LoadRefused)
    assert warehouse.rows(load.location) == [(100, "before")]
    assert warehouse.leftovers() == []
