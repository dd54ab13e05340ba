"""Whatever the rows and the rules: clean + quarantined + dropped = input, each where it belongs.

The model is a few lines of plain Python that look at one row after the other.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

from goldsmith.engine.quarantine import quarantine_store
from spark.engine.conftest import Bench
from spark.engine.test_quarantine import ruled, verdicts_of

Row = dict[str, Any]


def some_rows(chance: random.Random) -> list[Row]:
    return [
        {
            "n": number,
            "id": chance.choice([None, *range(12)]),
            "amount": chance.choice([None, -5, 0, 3, 7, 100]),
        }
        for number in range(chance.randint(0, 40))
    ]


def some_check(chance: random.Random) -> Row:
    check: Row = chance.choice(
        [
            {"type": "not_null", "column": chance.choice(["id", "amount"])},
            {"type": "in_range", "column": "amount", "min": chance.choice([-5, 0, 4]), "max": 50},
            {"type": "one_of", "column": "amount", "values": [0, 3, 7]},
            {"type": "unique", "column": "id"},
            {"type": "unique", "columns": ["id", "amount"]},
            {"type": "unique", "column": "id", "nulls": chance.choice(["equal", "broken"])},
        ]
    )
    where = chance.choice([None, None, "amount > 0"])
    return {
        **check,
        **({} if where is None else {"where": where}),
        "on_fail": chance.choice(["quarantine", "drop", "fail", "warn"]),
        "severity": "warning",
    }


def broken_by(check: Row, rows: list[Row]) -> set[int]:
    """The numbers of the rows that break the check."""
    spoken_of = [
        row for row in rows if "where" not in check or (row["amount"] or 0) > 0
    ]  # fmt: skip
    match check["type"]:
        case "not_null":
            return {row["n"] for row in spoken_of if row[check["column"]] is None}
        case "in_range":
            low, high = check["min"], check["max"]
            return {
                row["n"]
                for row in spoken_of
                if row["amount"] is not None and not low <= row["amount"] <= high
            }
        case "one_of":
            return {
                row["n"]
                for row in spoken_of
                if row["amount"] is not None and row["amount"] not in check["values"]
            }
    columns = check.get("columns") or [check["column"]]
    keys = {row["n"]: tuple(row[name] for name in columns) for row in spoken_of}
    nulls = check.get("nulls", "distinct")
    if nulls != "equal":
        empty = {number for number, key in keys.items() if None in key}
        keys = {number: key for number, key in keys.items() if number not in empty}
    times = Counter(keys.values())
    again = {number for number, key in keys.items() if times[key] > 1}
    return again | empty if nulls == "broken" else again


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(3, 60))]
)
@pytest.mark.parametrize("is_large", [False, True])
def test_every_row_is_published_kept_aside_or_dropped(
    bench: Bench, seed: int, is_large: bool, request: pytest.FixtureRequest
) -> None:
    if is_large:
        request.getfixturevalue("large")
    chance = random.Random(seed)
    rows = some_rows(chance)
    checks = [some_check(chance) for _ in range(chance.randint(1, 6))]
    source = """
sources:
  - source_id: "raw_@"
    s3_path: "s3://raw/@/"
    file_format: jsonl
    declared_schema: "n BIGINT, id BIGINT, amount BIGINT"
"""
    ruled(bench, *checks, more=source)
    bench.bring("a.jsonl", *(json.dumps(row) for row in rows))
    done = bench.run()[1]

    broken = [broken_by(check, rows) for check in checks]
    by = {
        on_fail: set().union(
            *(b for b, c in zip(broken, checks, strict=True) if c["on_fail"] == on_fail)
        )
        for on_fail in ("quarantine", "drop")
    }
    everything = {row["n"] for row in rows}
    quarantined_rows, dropped = by["quarantine"], by["drop"] - by["quarantine"]
    clean = everything - quarantined_rows - dropped
    assert done.status == "succeeded", done.error_message
    assert {row[0] for row in bench.rows("bronze", "n")} == clean
    assert done.rows_written == len(clean)
    assert (done.rows_quarantined, done.rows_dropped) == (len(quarantined_rows), len(dropped))
    assert done.rows_read == len(clean) + len(quarantined_rows) + len(dropped) == len(rows)
    assert [verdict.broken for verdict in verdicts_of(bench, done)] == [len(b) for b in broken]
    runtime, dataset = bench.runtime, f"bronze_{bench.tag}"
    (*held,) = quarantine_store.quarantined_rows(runtime.storage, runtime.journal, [dataset])
    assert sum(quarantined.rows for quarantined in held) == len(quarantined_rows)
