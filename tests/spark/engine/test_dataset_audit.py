from __future__ import annotations

import threading
from pathlib import Path

import pytest

from goldsmith.checks.suggest import suggest
from goldsmith.engine.audit import dataset_audit
from goldsmith.engine.quarantine import quarantine_store
from goldsmith.journal.verdicts import recent
from goldsmith.planning.stage_context import dataset_of
from goldsmith.worker.validation import validate
from spark.engine.conftest import Bench
from spark.engine.test_quarantine import POSITIVE, UNIQUE, ruled


def test_a_dataset_at_rest_is_judged_by_its_own_rules_and_others(bench: Bench) -> None:
    ruled(bench, {**POSITIVE, "on_fail": "warn"}, {**UNIQUE, "severity": "warning"})
    bench.bring("a.jsonl", {"id": 1, "amount": -1}, {"id": 1, "amount": 2}, {"id": 3, "amount": 3})
    bench.run()
    rows = bench.runtime.catalog.snapshot()
    dataset = f"bronze_{bench.tag}"
    done = dataset_audit.audit_dataset(bench.resources(), rows, dataset)

    summary = done.summary.as_plain()
    assert {name: summary[name] for name in summary if name != "results"} == {
        "total_checks": 2,
        "passed": 0,
        "failed": 2,
        "success_rate": 0.0,
        "critical_failures": 1,
        "overall_passed": False,
    }
    result = summary["results"][0]
    assert result["check_name"] == "in_range"
    assert result["actual_value"] == "1 of 3 rows broken", result["message"]
    assert result["message"].startswith("FAILED: ")
    found = recent(bench.runtime.journal, dataset_id=dataset, failed=True, most=2)
    verdicts = sorted(found, key=lambda verdict: verdict.place)
    assert [verdict.stage_run_id for verdict in verdicts] == [done.audit_id] * 2
    assert [verdict.broken for verdict in verdicts] == [1, 2]
    assert verdicts[0].sample[0]["amount"] == -1
    assert verdicts[1].sample == ({"id": 1, "count": 2},)
    with pytest.raises(dataset_audit.UnknownRuleSet):
        dataset_audit.audit_dataset(bench.resources(), rows, dataset, rule_sets=["nobody's"])


def test_rules_are_put_to_a_frame_from_python(bench: Bench) -> None:
    frame = bench.spark.createDataFrame([(1, "a"), (2, None)], "id int, name string")
    done = validate(
        frame,
        [
            {"type": "not_null", "column": "name", "mostly": 0.5},
            {"type": "expect_column_values_to_be_between", "column": "id", "min_value": 1},
            {"type": "mean", "column": "no_such", "min": 0, "severity": "warning"},
        ],
    )
    assert (done.total_checks, done.passed, done.critical_failures) == (3, 2, 0)
    assert done.overall_passed
    assert done.results[2].message.startswith("ERROR: ")
    assert done.results[2].actual_value == -1


def test_a_profile_in_one_pass_and_what_it_suggests(bench: Bench) -> None:
    ruled(bench, POSITIVE)
    made = [
        {"id": number, "amount": number % 3, "at": f"2026-01-0{number % 9 + 1}T00:00:00Z"}
        for number in range(60)
    ]
    bench.bring("a.jsonl", *made)
    bench.run()
    rows, dataset = bench.runtime.catalog.snapshot(), f"bronze_{bench.tag}"
    profiles = dataset_audit.profile_dataset(bench.resources(), rows, dataset)
    found = {profile.name: profile for profile in profiles}

    assert (found["id"].min, found["id"].max, found["id"].nulls) == (0, 59, 0)
    assert found["id"].quantiles is not None
    assert 25 <= found["id"].quantiles["0.5"] <= 35
    assert sorted(found["amount"].top) == [(0, 20), (1, 20), (2, 20)]
    assert found["at"].as_plain()["min"] == "2026-01-01 00:00:00"
    types = {(check["type"], check.get("column")) for check, _ in suggest(list(found.values()))}
    assert {("unique", "id"), ("not_null", "amount"), ("in_range", "amount")} <= types


def test_quarantines_are_listed_shown_and_discarded(bench: Bench) -> None:
    ruled(bench, {**POSITIVE, "on_fail": "quarantine", "max_broken": 2})
    bench.bring("a.jsonl", {"id": 1, "amount": -1}, {"id": 2, "amount": -2}, '{"id": 3, "amo')
    done = bench.run()[1]
    bad = bench.bring("b.jsonl", *({"id": n, "amount": -1} for n in range(4, 8)))
    assert bench.run()[1].error_code == "CheckFailed"
    storage, journal, dataset = bench.runtime.storage, bench.runtime.journal, f"bronze_{bench.tag}"

    (held,) = quarantine_store.quarantined_rows(storage, journal, [dataset, "nothing_of_it"])
    assert held.as_plain() == {
        "dataset": dataset,
        "rows": 3,
        "unpublished": 4,
        "checks": {"in_range": 2, "malformed": 1},
        "runs": [done.run_id],
    }
    shown = quarantine_store.rows_of(
        storage, journal, dataset, run_id=None, most=10, unpublished=False, hide=frozenset(["id"])
    )
    assert len(shown) == 3
    whole = next(quarantined for quarantined in shown if quarantined["row"] is not None)
    assert (whole["row"]["id"], whole["published"]) == ("***", True)
    assert quarantine_store.discard(storage, journal, dataset, ids=[whole["id"]]) == 1
    assert quarantine_store.discard(storage, journal, dataset, unpublished=True) == 4
    (left,) = quarantine_store.quarantined_rows(storage, journal, [dataset])
    assert (left.rows, left.unpublished) == (2, 0)
    bad.write_text('{"id": 4, "amount": 4}\n')
    assert bench.run()[1].status == "succeeded"


def test_a_mended_file_goes_through_the_stage(bench: Bench, tmp_path: Path) -> None:
    ruled(bench, {**POSITIVE, "on_fail": "quarantine"})
    bench.bring("a.jsonl", {"id": 1, "amount": -1}, '{"id": 2, "amo')
    bench.run()
    storage, journal, dataset = bench.runtime.storage, bench.runtime.journal, f"bronze_{bench.tag}"
    shown = quarantine_store.rows_of(
        storage, journal, dataset, run_id=None, most=10, unpublished=False, hide=frozenset()
    )
    mended = tmp_path / "mended.jsonl"
    lines = [f'{{"_id": "{row["id"]}", "id": {n}, "amount": 5}}' for n, row in enumerate(shown)]
    mended.write_text("\n".join(lines) + "\n")
    done = bench.run("stage:@-1", replay={"file": str(mended)})[1]

    assert (done.rows_written, done.rows_quarantined) == (2, 0)
    assert quarantine_store.quarantined_rows(storage, journal, [dataset]) == []
    again = bench.run("stage:@-1", replay={"file": str(mended)})[1]
    assert again.status == "skipped"
    assert bench.rows("bronze", "id", "amount") == [(0, 5), (1, 5)]


def test_readers_never_see_rows_that_a_critical_check_held_back(bench: Bench) -> None:
    ruled(bench, {**POSITIVE, "on_fail": "quarantine", "max_broken": 0})
    bench.bring("a.jsonl", {"id": 1, "amount": 1})
    bench.run()
    dataset = dataset_of(f"bronze_{bench.tag}", bench.runtime.catalog.snapshot())
    from goldsmith.planning.lake import load_table

    seen: set[tuple[int, ...]] = set()
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            table = load_table(dataset, bench.runtime.storage)
            assert table is not None
            found = table.scan(selected_fields=("id",)).to_arrow()
            seen.add(tuple(sorted(found["id"].to_pylist())))

    reader = threading.Thread(target=read)
    reader.start()
    bench.bring("b.jsonl", {"id": 2, "amount": 2}, {"id": 3, "amount": -3})
    failed = bench.run()[1]
    over.set()
    reader.join()

    assert failed.error_code == "CheckFailed"
    assert seen == {(1,)}
    assert bench.rows("bronze", "id") == [(1,)]
