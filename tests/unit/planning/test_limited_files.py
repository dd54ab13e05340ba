"""What an attempt reads that reads fewer files at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from goldsmith.planning.input_selection import Consumed, InputSelection
from goldsmith.planning.run_options import RunOptions
from goldsmith.planning.select_inputs import limit_files
from goldsmith.planning.window import Window
from goldsmith.storage.files import ListedFile

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
DAY = Window(start=LONG_AGO, end=LONG_AGO + timedelta(days=1))


def fewer(selection: InputSelection, at_once: int, **run_options: Any) -> InputSelection:
    """The selection of an attempt at a stage that joins orders with customers."""
    inputs = [SimpleNamespace(dataset_id=name) for name in ("orders", "customers")]
    context: Any = SimpleNamespace(inputs=inputs, resolved=SimpleNamespace(read="new"))
    return limit_files(selection, context, RunOptions(**run_options), at_once)


def chosen(orders: list[str], **more: Any) -> InputSelection:
    files = {
        name: [ListedFile(path=path, size=1, etag="", modified_at=LONG_AGO) for path in paths]
        for name, paths in {"orders": orders, "customers": ["x", "y", "z"]}.items()
    }
    return InputSelection(consumed=Consumed(files=files), **more)


def paths(made: InputSelection, dataset: str) -> list[str]:
    return [file.path for file in made.consumed.files[dataset]]


def test_parts_of_a_joined_input_end_and_nothing_of_it_is_lost() -> None:
    left, read, attempts = [f"{n:02}" for n in range(11)], list[str](), 0
    while True:
        attempts += 1
        part = fewer(chosen(left), 4)
        assert paths(part, "customers") == ["x", "y", "z"]
        read += paths(part, "orders")
        left = [path for path in left if path not in read]
        assert part.files_left == len(left)
        if not part.files_left:
            break
    assert (attempts, read) == (3, [f"{n:02}" for n in range(11)])
    # SQL that asks for the time always has a reason to run; that is no file that is left.
    assert fewer(chosen([]), 4).files_left == 0


@pytest.mark.parametrize(
    ("run_options", "more"),
    [
        ({"window": DAY}, {}),
        ({"as_of": "s1"}, {}),
        ({"full_refresh": True}, {}),
        ({}, {"starts_over": True}),
    ],
    ids=["backfill", "restore", "full refresh", "starts over"],
)
def test_what_the_next_attempt_would_not_go_on_with_is_read_at_once(
    run_options: dict[str, Any], more: dict[str, Any]
) -> None:
    made = fewer(chosen(["a", "b", "c"], **more), 1, **run_options)
    assert (paths(made, "orders"), made.files_left) == (["a", "b", "c"], 0)
