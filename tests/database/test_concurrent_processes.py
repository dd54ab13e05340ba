"""Ten processes at once, applying, editing by plain SQL, undoing and planning, lose nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.changes import RowChange, history
from goldsmith.catalog.pipelines import Pipeline
from goldsmith.catalog.rows import Row
from goldsmith.catalog.schema import BY_TABLE, DECLARED
from plain_sql import PlainSql

#: What each of the ten does, and how often.
WORK = (
    ("apply", "ann", 5),
    ("apply", "bob", 5),
    ("apply", "carl", 5),
    ("edit", "dora", 10),
    ("edit", "emil", 10),
    ("edit", "fay", 10),
    ("undo", "gus", 4),
    ("plan", "hanna", 8),
    ("plan", "ivo", 8),
    ("poll", "jo", 2_000),
)


def all_at_once(url: str) -> dict[str, Any]:
    """Start them all, let them go at the same moment, and gather what each says it did."""
    worker = Path(__file__).with_name("concurrent_process.py")
    processes = [
        subprocess.Popen(
            [sys.executable, str(worker), kind, url, name, str(times)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for kind, name, times in WORK
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    with ThreadPoolExecutor(len(WORK)) as pool:
        answers = list(pool.map(lambda process: process.communicate("\n", timeout=300), processes))
    assert [error for _said, error in answers if error] == []
    return {
        name: json.loads(output)
        for (_kind, name, _n), (output, _) in zip(WORK, answers, strict=True)
    }


def image(change: RowChange, of: str) -> Row | None:
    found = getattr(change, of)
    return None if found is None else BY_TABLE[change.table].from_image(found)


def test_ten_processes_at_once_lose_nothing(catalog_url: str, plain: PlainSql) -> None:
    plain.run(
        "INSERT INTO sources (source_id, s3_path, file_format) VALUES ('raw', 's3://r/', 'csv')"
    )
    plain.run("INSERT INTO pipelines (pipeline_id, sla_minutes) VALUES ('counter', 0)")
    start = plain.revision()
    answers = all_at_once(catalog_url)

    catalog = Catalog.open(catalog_url)
    changes = history(catalog)[::-1]
    rows = catalog.snapshot()
    newest = catalog.revision()
    catalog.close()
    new = [change for change in changes if change.revision > start]

    # Every apply is there, all of its rows in the one revision it was told.
    for name in ("ann", "bob", "carl"):
        for done in answers[name]:
            mine = [c for c in new if (c.actor, c.reason) == (name, done["reason"])]
            assert len(mine) == done["rows"] >= 3
            assert {c.revision for c in mine} == {done["revision"]}

    # Every edit by plain SQL is there exactly once, and no increment was lost.
    marks = Counter(
        c.after["location"]
        for c in new
        if c.table == "targets" and c.operation == "update" and c.after
    )
    assert marks == Counter([mark for name in ("dora", "emil", "fay") for mark in answers[name]])
    counted = [
        c.after["sla_minutes"]
        for c in new
        if c.key == ("counter",) and c.operation == "update" and c.after
    ]
    assert counted == list(range(1, 31))
    counter = rows.get(Pipeline, "counter")
    assert counter is not None
    assert counter.sla_minutes == 30

    # Every change and its undo are there, in revisions of their own.
    for revision in answers["gus"]:
        assert [c.operation for c in new if c.revision == revision] == ["insert"]
    taken_back = [c for c in new if (c.actor, c.operation) == ("gus", "delete")]
    assert [c.reason for c in taken_back] == [f"undo of revision {n}" for n in answers["gus"]]

    # History is complete and in order, and the revision never went back.
    assert [c.change_id for c in changes] == sorted({c.change_id for c in changes})
    revisions = [c.revision for c in changes]
    assert revisions == sorted(revisions)
    assert set(revisions) == set(range(1, newest + 1))
    for name in ("hanna", "ivo", "jo"):
        assert answers[name] == sorted(answers[name])

    # Replayed from nothing, history gives the rows there are.
    replayed: dict[tuple[str, tuple[Any, ...]], Row] = {}
    for change in changes:
        table_and_key = (change.table, change.key)
        assert image(change, "before") == replayed.get(table_and_key), change
        after = image(change, "after")
        if after is None:
            del replayed[table_and_key]
        else:
            replayed[table_and_key] = after
    assert replayed == {
        (kind.table.name, key): row for kind in DECLARED for key, row in rows.table(kind).items()
    }
