"""What is asked in every run is found by an index, however long the history: by the plan itself."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import sqlalchemy as sa

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.prepared import Prepared
from goldsmith.catalog.rows import Row
from goldsmith.engine import ledger
from goldsmith.engine.lake import table_states
from goldsmith.journal import healing, incidents, runs
from goldsmith.journal import stage_runs as stage_runs_module
from goldsmith.journal.definitions import (
    healing_uses,
    input_files,
    input_snapshots,
    stage_runs,
)
from goldsmith.journal.definitions import incidents as incidents_table
from goldsmith.journal.definitions import runs as runs_table
from goldsmith.journal.journal import Journal
from goldsmith.planning.stage_context import Dataset
from goldsmith.runtime import Runtime
from goldsmith.worker.incidents import freshness

RUNS = 3000
STAGES = 30
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture
def long_ago(journal: Journal) -> Journal:
    """A journal that remembers thousands of runs."""
    rows: dict[sa.Table, list[dict[str, Any]]] = defaultdict(list)
    for number in range(RUNS):
        pipeline, at = f"p{number % STAGES}", NOON - timedelta(hours=number)
        about = {"consumer": f"{pipeline}-1", "dataset_id": "in", "stage_run_id": f"s{number}"}
        rows[runs_table].append(
            {
                "run_id": f"r{number}",
                "request_id": f"q{number}",
                "pipeline_id": pipeline,
                "status": "succeeded",
                "started_at": at,
                "ended_at": at,
            }
        )
        rows[stage_runs].append(
            {
                "stage_run_id": f"s{number}",
                "run_id": f"r{number}",
                "pipeline_id": pipeline,
                "stage_order": 1,
                "target_id": f"t{number % STAGES}",
                "attempt": 1,
                "status": "succeeded" if number // STAGES % 3 else "skipped",
                "started_at": at,
                "ended_at": at,
            }
        )
        rows[input_files].append({**about, "path": f"s3://in/{number}", "counted": True})
        rows[input_snapshots].append({**about, "snapshot": str(number), "counted": True})
        rows[healing_uses].append(
            {"use_id": f"u{number}", "at": at, "step_order": 1, "outcome": "helped"}
        )
        rows[incidents_table].append({"incident_id": f"i{number}", "status": "closed", "times": 1})
    with journal.writing() as connection:
        for table, made in rows.items():
            connection.execute(sa.insert(table), made)
    if journal.engine.dialect.name == "postgresql":
        with journal.writing() as connection:
            connection.exec_driver_sql("ANALYZE")  # as it does by itself, some time later
    return journal


@contextmanager
def plans(engine: sa.Engine) -> Iterator[list[str]]:
    """How the database goes about every statement meanwhile, in its own words."""
    found: list[str] = []
    explain = "EXPLAIN QUERY PLAN" if engine.dialect.name == "sqlite" else "EXPLAIN"

    def look(connection: Any, _cursor: Any, statement: str, values: Any, *_more: Any) -> None:
        if re.match(r"SELECT|UPDATE|DELETE", statement):
            cursor = connection.connection.driver_connection.cursor()
            cursor.execute(f"{explain} {statement}", values)
            found.append("\n".join(str(row[-1]) for row in cursor.fetchall()))
            cursor.close()

    plain = Prepared._execute

    def execute(self: Prepared, connection: sa.Connection, values: Mapping[str, Any]) -> Any:
        ready = self._for(connection.dialect, values)
        look(connection, None, ready.text, ready.bound(values))
        return plain(self, connection, values)

    sa.event.listen(engine, "before_cursor_execute", look)
    try:
        with mock.patch.object(Prepared, "_execute", execute):  # SQLAlchemy hears nothing of these
            yield found
    finally:
        sa.event.remove(engine, "before_cursor_execute", look)


def in_a_transaction(ask: Callable[[sa.Connection], object]) -> Callable[[Journal], None]:
    def query(journal: Journal) -> None:
        with journal.writing() as connection:
            ask(connection)

    return query


T7 = Dataset("t7", None, Target(target_id="t7"), ())


@pytest.mark.parametrize(
    ("ask", "by"),
    [
        (
            in_a_transaction(lambda connection: ledger.forget(connection, "s7")),
            ("ix_input_files_stage_run", "ix_input_snapshots_stage_run"),
        ),
        (
            in_a_transaction(lambda connection: ledger.count(connection, "s7")),
            ("ix_input_files_stage_run", "ix_input_snapshots_stage_run"),
        ),
        (lambda journal: runs.recent_runs(journal, request_id="q7"), ("ix_runs_request",)),
        (lambda journal: healing.failures_in_request(journal, "q7"), ("ix_runs_request",)),
        (lambda journal: table_states.loads(T7, journal), ("ix_stage_runs_target",)),
        (
            in_a_transaction(lambda connection: stage_runs_module.newest_success(connection, "t7")),
            ("ix_stage_runs_target",),
        ),
        (lambda journal: healing.uses(journal, since=NOON), ("ix_healing_uses_at",)),
        (lambda journal: incidents.listed(journal), ("ix_incidents_status",)),
    ],
    ids=["forget", "count", "runs", "failures", "loads", "newest success", "uses", "incidents"],
)
def test_it_is_found_by_an_index(
    long_ago: Journal, ask: Callable[[Journal], object], by: tuple[str, ...]
) -> None:
    with plans(long_ago.engine) as found:
        ask(long_ago)
    query_plan = "\n".join(found)
    assert not re.search(r"\bSCAN\b|Seq Scan", query_plan), query_plan
    for index in by:
        assert index in query_plan


def test_the_age_of_a_dataset_is_read_from_its_newest_stage_run(
    catalog: Catalog, long_ago: Journal, catalog_url: str, tmp_path: Path
) -> None:
    (tmp_path / "goldsmith.toml").write_text('name = "tests"\n')
    environ = {"GOLDSMITH_CATALOG__URL": catalog_url}
    runtime = Runtime.of(environ, project=tmp_path, environment=None, cwd=tmp_path)
    runtime.__dict__["catalog"] = catalog
    rows: list[Row] = [Source(source_id="raw", s3_path="s3://raw/", file_format="jsonl")]
    for number in range(STAGES):
        rows.append(Pipeline(pipeline_id=f"p{number}"))
        rows.append(Target(target_id=f"t{number}", location=f"s3://t{number}/", type="s3"))
        stage = Stage(pipeline_id=f"p{number}", stage_order=1, source_id="raw")
        rows.append(stage.with_(target_id=f"t{number}"))
    with catalog.change(actor="test") as change:
        change.put(rows)
    with plans(catalog.engine) as found:
        ages = {dataset.dataset_id: dataset.last_update for dataset in freshness(runtime)}
    assert ages == {f"t{n}": NOON - timedelta(hours=n) for n in range(STAGES)}
    relevant = [plan for plan in found if "stage_runs" in plan]
    assert relevant
    for plan in relevant:
        assert not re.search(r"SCAN stage_runs|Seq Scan on stage_runs|\bSort\b|B-TREE", plan), plan
        assert plan.count("ix_stage_runs_target") >= 2
