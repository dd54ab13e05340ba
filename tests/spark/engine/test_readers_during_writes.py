"""Whoever reads while a stage writes sees the old or the new state, never anything between."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from spark.engine.conftest import Bench
from spark.engine.test_stages import BRONZE

_ROWS = 50
_RUNS = 3
MODES = {
    "append": "",
    "overwrite": "    write_mode: overwrite\n",
    "merge": "    write_mode: merge\n    keys: [id]\n    watermark_column: at\n",
    "scd2": "    write_mode: scd2\n    keys: [id]\n    watermark_column: at\n",
}
SILVER = """
stages:
  - pipeline_id: "@"
    stage_order: 2
    source_id: "bronze_@"
    target_id: "silver_@"
    transform_sql: SELECT id, amount, at FROM bronze_@
"""


class Reader:
    """Reads a table again and again by pyiceberg, as another program would."""

    def __init__(self, bench: Bench) -> None:
        self.lake = bench.runtime.storage.lake()
        self.name = ("silver", f"silver_{bench.tag}")
        self.seen: list[tuple[int, int, int]] = []
        self.error: Exception | None = None
        self.over = threading.Event()

    def look(self) -> tuple[int, int, int]:
        """Rows, the newest run they speak of, and how many rows speak of it."""
        rows: Any = self.lake.load_table(self.name).scan(selected_fields=("amount",)).to_arrow()
        amounts = rows["amount"].to_pylist()
        return len(amounts), max(amounts), amounts.count(max(amounts))

    def read(self) -> None:
        while not self.over.is_set():
            try:
                self.seen.append(self.look())
            except Exception as error:
                self.error = error
                return


@contextmanager
def reading(bench: Bench) -> Iterator[Reader]:
    reader = Reader(bench)
    thread = threading.Thread(target=reader.read, daemon=True)
    thread.start()
    try:
        yield reader
    finally:
        reader.over.set()
        thread.join(60)


def expected(mode: str, run: int) -> tuple[int, int, int]:
    """What a table holds after so many runs, each of which speaks of the same keys."""
    rows = {"append": _ROWS * (run + 1), "scd2": _ROWS * (run + 1), "merge": _ROWS}
    # An overwrite reads all of bronze, where every run added its rows.
    return rows.get(mode, _ROWS * (run + 1)), run, _ROWS


#: Every mode is published in the same step: two of them are tried each time.
_QUICK = ("merge", "overwrite")


@pytest.mark.parametrize(
    "mode", [pytest.param(m, marks=() if m in _QUICK else pytest.mark.soak) for m in MODES]
)
def test_a_reader_sees_the_old_or_the_new(bench: Bench, mode: str) -> None:
    bench.apply(BRONZE)
    bench.apply(SILVER + MODES[mode])
    _bring(bench, 0)
    bench.run()
    with reading(bench) as reader:
        for run in range(1, _RUNS):
            _bring(bench, run)
            assert bench.run()[2].status == "succeeded"
    assert reader.error is None
    states = [expected(mode, run) for run in range(_RUNS)]
    assert set(reader.seen) <= set(states)
    # In order, and nothing goes back.
    assert [states.index(state) for state in reader.seen] == sorted(
        states.index(state) for state in reader.seen
    )
    assert reader.look() == states[-1]
    assert reader.seen


def _bring(bench: Bench, run: int) -> None:
    day = f"2026-01-{run + 1:02}"
    rows = [{"id": number, "amount": run, "at": day} for number in range(_ROWS)]
    bench.bring(f"{run}.jsonl", *rows)
