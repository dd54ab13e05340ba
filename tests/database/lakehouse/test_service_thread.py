"""The service's thread makes tables and carries loads out; an error ends no turn for good."""

from __future__ import annotations

import threading

import pytest

from goldsmith.lakehouse.raw_tables import find_table
from goldsmith.service import raw_lakehouse
from goldsmith.service.raw_lakehouse import RawLakehouse
from lakehouse_story import Lakehouse, record


def test_one_turn_makes_the_tables_and_carries_out_what_waits(lakehouse: Lakehouse) -> None:
    lakehouse.file("a.jsonl", record("a"))
    thread = RawLakehouse(lakehouse.runtime)
    thread.turn()
    assert find_table(lakehouse.runtime.storage, "redshift") is not None
    job = lakehouse.submit("a.jsonl")
    thread.turn()
    assert lakehouse.status(job)["status"] == "COMPLETED"


def test_the_thread_goes_on_after_an_error_and_ends_with_its_context(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    went_on = threading.Event()
    turns = []

    def process(*_: object) -> int:
        turns.append(1)
        if len(turns) == 1:
            raise ZeroDivisionError
        went_on.set()
        return 0

    monkeypatch.setattr(raw_lakehouse, "process_waiting", process)
    monkeypatch.setattr(raw_lakehouse, "_TURN_SECONDS", 0.01)
    with RawLakehouse(lakehouse.runtime) as thread:
        assert went_on.wait(30)
    assert not thread._thread.is_alive()
