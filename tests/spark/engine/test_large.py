"""What is asked of many rows is asked of the files they lie in, and the answers are the same."""

from __future__ import annotations

from typing import Any

import pytest

from goldsmith.checks.arrow import jobs as native
from goldsmith.engine.quarantine.row_router import RowRouter
from spark.engine.conftest import Bench
from spark.engine.test_quarantine import counts, kept, ruled, verdicts_of
from spark.engine.test_schema_policy import CHANGED, loaded

CHECKS: list[dict[str, Any]] = [
    {"type": "row_count", "min": 1},
    {"type": "not_null", "column": "id", "on_fail": "quarantine"},
    {"type": "in_range", "column": "amount", "min": 0, "on_fail": "drop"},
    {"type": "regex", "column": "name", "pattern": r"^[a-z\s]+$", "on_fail": "warn"},
    {"type": "one_of", "column": "name", "values": ["a", "é"], "mostly": 0.5},
    {"type": "length", "column": "name", "max": 1, "where": "amount > 5"},
    {"type": "expression", "sql": "abs(amount) < 20", "on_fail": "warn"},
    {"type": "mean", "column": "amount", "min": 100},
    {"type": "max", "column": "name", "min": "z"},
    {"type": "null_rate", "column": "name", "max": 0.1},
    {"type": "unique", "column": "id"},
    {"type": "unique", "columns": ["name", "amount"], "nulls": "broken"},
    {"type": "distinct_count", "column": "name", "min": 9},
]
ROWS: list[dict[str, Any]] = [
    {"id": 1, "amount": 10, "name": "a"},
    {"id": 2, "amount": 3, "name": "bb"},
    {"id": None, "amount": 4, "name": "a"},
    {"id": 5, "amount": -4},
    {"id": 6, "amount": 30, "name": "é"},
    {"id": 7, "name": "a"},
    {"id": 1, "amount": 10, "name": "a"},
]


SOURCE = """
sources:
  - source_id: "raw_@"
    s3_path: "s3://raw/@/"
    file_format: jsonl
    declared_schema: "id BIGINT, amount BIGINT, name STRING"
"""
FOUND = [
    (True, None, "7"),
    (True, 1, "1 of 7 rows broken"),
    (True, 1, "1 of 6 rows broken"),
    (False, 1, "1 of 6 rows broken"),
    (True, 1, "1 of 6 rows broken"),
    (True, 0, "0 of 3 rows broken"),
    (False, 1, "1 of 7 rows broken"),
    (False, None, "8.833333333"),
    (True, None, "é"),
    (False, None, "0.1428571429"),
    (False, 2, "2 of 6 rows broken"),
    (False, 4, "4 of 7 rows broken"),
    (False, None, "3"),
]


@pytest.mark.parametrize("is_large", [False, True])
def test_the_verdicts_on_many_rows_are_those_on_few(
    bench: Bench, is_large: bool, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    observed: list[RowRouter] = []
    plain = RowRouter.measures
    monkeypatch.setattr(RowRouter, "measures", lambda self: observed.append(self) or plain(self))
    by_arrow: dict[str, Any] = {}
    measure = native.measure

    def measured(*arguments: Any) -> dict[str, Any]:
        by_arrow.update(found := measure(*arguments))
        return found

    monkeypatch.setattr(native, "measure", measured)
    if is_large:
        request.getfixturevalue("large")
    ruled(bench, *({**entry, "severity": "warning"} for entry in CHECKS), more=SOURCE)
    bench.bring("a.jsonl", *ROWS)
    done = bench.run()[1]
    assert done.status == "succeeded", done.error_message
    assert bool(observed) is not is_large
    # Broken rows were counted where they lie; a letter beyond ASCII is left to Java's patterns.
    counted_by_arrow = {name for name in by_arrow if name.startswith(("broken_", "skipped_"))}
    assert ("skipped_1" in counted_by_arrow, "broken_4" in counted_by_arrow) == (is_large, is_large)
    assert counted_by_arrow.isdisjoint({"broken_1", "broken_2", "broken_3"})
    assert counts(done) == (7, 5, 1, 1)
    assert [(row["id"], row["_checks"]) for row in kept(bench)] == [(None, ["not_null"])]
    assert [row[0] for row in bench.rows("bronze", "id")] == [1, 1, 2, 6, 7]
    assert [
        (entry.passed, entry.broken, entry.observed) for entry in verdicts_of(bench, done)
    ] == FOUND


@pytest.mark.usefixtures("large")
def test_of_no_rows_nothing_is_broken(bench: Bench) -> None:
    ruled(bench, *({**check, "severity": "warning"} for check in CHECKS), more=SOURCE)
    bench.bring("a.jsonl", *ROWS)
    bench.run()
    bench.bring("b.jsonl")
    done = bench.run()[1]
    assert (done.status, counts(done)) == ("succeeded", (0, 0, 0, 0))


@pytest.mark.usefixtures("large")
def test_rows_the_schema_policy_leaves_out_are_counted_among_many_too(bench: Bench) -> None:
    done = loaded(bench, f"{CHANGED}    schema_policy: discard_row\n")
    assert (done.status, counts(done)) == ("succeeded", (3, 1, 0, 2))


@pytest.mark.usefixtures("large")
def test_what_may_be_answered_otherwise_again_is_asked_on_the_way(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    later: list[RowRouter] = []
    plain = RowRouter.of_sides
    monkeypatch.setattr(
        RowRouter, "of_sides", lambda self, rows: later.append(self) or plain(self, rows)
    )
    ruled(bench, {"type": "expression", "sql": "abs(amount) < 2", "on_fail": "quarantine"})
    bench.bring("a.jsonl", *({"id": n, "amount": n} for n in range(5)))
    done = bench.run()[1]
    assert (done.status, counts(done)) == ("succeeded", (5, 2, 3, 0)), done.error_message
    assert not later
    assert [verdict.broken for verdict in verdicts_of(bench, done)] == [3]


@pytest.mark.usefixtures("large")
def test_a_check_that_raises_on_a_row_kept_aside_spoils_nothing(bench: Bench) -> None:
    raising = {"type": "expression", "sql": "10 / amount > 1", "severity": "warning"}
    ruled(bench, raising, {"type": "not_null", "column": "id", "on_fail": "quarantine"})
    bench.bring("a.jsonl", {"id": 1, "amount": 1}, {"amount": 0})
    done = bench.run()[1]
    assert (done.status, counts(done)) == ("succeeded", (2, 1, 1, 0)), done.error_message
    wrong, right = verdicts_of(bench, done)
    assert (wrong.passed, right.passed, right.broken) == (False, True, 1)
    assert "ivision by zero" in str(wrong.message)
