"""Runs, coverage and the difference of two runs, from the tables alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from goldsmith.lakehouse import applications
from goldsmith.lakehouse.run_difference import UnknownRawRun, difference
from goldsmith.lakehouse.runs import NoRawTable, coverage, runs_of
from lakehouse_story import DAY, Lakehouse, record


def of_run(run: str, name: str, content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return record(name, workflow_run_id=run, raw_record=json.dumps(content)) | more


@pytest.fixture
def two_runs(lakehouse: Lakehouse) -> Lakehouse:
    nested = {"cols": [{"t": "int"}, {"t": "text"}], "a/b": 1, "same": 1.50}
    changed = {"same": 1.5, "cols": [{"t": "int"}, {"t": "date"}, {"t": "new"}], "a/b": True}
    lakehouse.file(
        "1.jsonl",
        of_run("1", "kept", {"a": 1, "b": 2}),
        of_run("1", "gone", {}),
        of_run("1", "nested", nested),
        of_run("1", "id", {"table": "t", "type": 1}, typename="column"),
        of_run("1", "id", {"table": "u", "type": 1}, typename="column"),
    )
    at = {"extracted_at": DAY + 3_600_000}
    lakehouse.file(
        "2.jsonl",
        of_run("2", "kept", {"b": 2, "a": 1.0}, **at),
        of_run("2", "come", {}, **at),
        of_run("2", "nested", changed, **at),
        of_run("2", "id", {"table": "t", "type": 1}, typename="column", **at),
        of_run("2", "id", {"table": "u", "type": 2}, typename="column", **at),
    )
    assert lakehouse.load("*.jsonl")["status"] == "COMPLETED"
    return lakehouse


def test_the_difference_names_paths_and_pairs_what_has_one_identity(two_runs: Lakehouse) -> None:
    found = difference(two_runs.runtime.storage, "redshift", "1", "2")
    plain = {(change.kind, change.identity[3]): change.as_plain() for change in found}
    assert sorted(plain) == [
        *(("added", "come"), ("changed", "id"), ("changed", "nested"), ("removed", "gone")),
    ]
    assert plain["changed", "nested"]["paths"] == [
        {"path": "/cols/1/t", "before": "text", "after": "date"},
        {"path": "/cols/2", "before": None, "after": {"t": "new"}},
        {"path": "/a~1b", "before": 1, "after": True},
    ]
    [changed] = plain["changed", "id"]["paths"]
    assert changed == {"path": "/type", "before": 1, "after": 2}
    assert difference(two_runs.runtime.storage, "redshift", "1", "1") == []


def test_records_that_share_an_identity_are_paired_only_by_a_key(lakehouse: Lakehouse) -> None:
    for run in (1, 2):
        lakehouse.file(
            f"{run}.jsonl",
            *(of_run(str(run), "id", {"table": t, "type": run}) for t in ("t", "u")),
            of_run(str(run), "null", {} if run == 1 else {"x": None}),
        )
    lakehouse.load("*.jsonl")
    storage = lakehouse.runtime.storage
    kinds = [change.kind for change in difference(storage, "redshift", "1", "2")]
    assert kinds == ["removed", "removed", "added", "added", "changed"]
    keyed = difference(storage, "redshift", "1", "2", keys=["table"])
    assert [change.kind for change in keyed] == ["changed"] * 3
    assert [[each.path for each in change.paths] for change in keyed][-1] == ["/x"]


def test_a_run_or_a_table_that_is_not_there_is_named(two_runs: Lakehouse) -> None:
    storage = two_runs.runtime.storage
    with pytest.raises(UnknownRawRun, match="'3'"):
        difference(storage, "redshift", "1", "3")
    for name in ("nobody", "no' OR 1=1"):
        with pytest.raises(NoRawTable):
            runs_of(storage, name)


def test_runs_and_coverage_count_by_typename(two_runs: Lakehouse) -> None:
    runtime = two_runs.runtime
    assert [(run.run_id, run.counts) for run in runs_of(runtime.storage, "redshift")] == [
        ("2", {"table": 3, "column": 2}),
        ("1", {"table": 3, "column": 2}),
    ]
    applications.register(runtime.catalog, "snowflake", actor="ann")
    redshift, snowflake = coverage(runtime.catalog, runtime.storage)
    assert (redshift["runs"], redshift["records"]) == (2, 10)
    assert redshift["typenames"] == {"column": 4, "table": 6}
    assert redshift["longest_gap_seconds"] == pytest.approx(3600 - 0.005)
    assert (redshift["oldest"], redshift["newest"]) == (
        "2025-11-18T00:00:00.005000+00:00",
        "2025-11-18T01:00:00+00:00",
    )
    assert (snowflake["table"], snowflake["runs"]) == (False, 0)
