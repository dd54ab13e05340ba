"""What tests of healing share: small pipelines, attempts one by one, and the story of a request."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from goldsmith.engine import faults
from goldsmith.engine.attempt import WorkerResources
from goldsmith.engine.run import ExecutionOptions
from goldsmith.journal import incidents, requests, runs
from goldsmith.journal.healing_tables import Incident
from goldsmith.journal.tables import Request, StageRun
from goldsmith.planning.run_options import RunOptions
from goldsmith.worker import loop
from spark.engine.conftest import Bench

BRONZE = """
retry_policies: [{retry_id: at_once, max_retries: 4, backoff_sec: 0}]
pipelines: [{pipeline_id: "@", default_retry_id: at_once, owner: ann, impact: customer}]
stages:
  - {pipeline_id: "@", stage_order: 1, source_id: "raw_@", target_id: "bronze_@"}
sources:
  - source_id: "raw_@"
    s3_path: "s3://raw/@/"
    file_format: jsonl
    declared_schema: "id BIGINT, amount BIGINT"
targets:
  - {target_id: "bronze_@", location: "s3://lake/bronze/@/", type: s3}
  - {target_id: "silver_@", location: "s3://lake/silver/@/", type: s3}
  - {target_id: "gold_@", location: "shop.gold_@", type: redshift}
"""
SILVER = """
stages:
  - pipeline_id: "@"
    stage_order: 2
    source_id: "bronze_@"
    target_id: "silver_@"
    transform_sql: SELECT id, amount FROM bronze_@
"""
MERGED = SILVER + "    write_mode: merge\n    keys: [id]\n"
GOLD = """
stages:
  - pipeline_id: "@"
    stage_order: 3
    source_id: "bronze_@"
    target_id: "gold_@"
    write_mode: append
    keys: [id]
    transform_sql: SELECT id, amount FROM bronze_@
"""


def allowing(rows: str, *remedies: str) -> str:
    """The rows of one stage with remedies that its own row allows by name."""
    options_row = f"options: {{remedies: [{', '.join(remedies)}]}}"
    if 'target_id: "bronze_@"}' in rows:
        return rows.replace('target_id: "bronze_@"}', f'target_id: "bronze_@", {options_row}}}')
    return rows.replace("    source_id:", f"    {options_row}\n    source_id:", 1)


def ask(bench: Bench) -> Request:
    return loop.submit_request(bench.runtime, [bench.tag], {}, "test")


def orders() -> ExecutionOptions:
    return ExecutionOptions(request_id=None, run_options=RunOptions(), asked_by="test", at_once=1)


def healed(bench: Bench, request: Request | None = None) -> Request:
    """Ask and see it through; the request as it ended."""
    made = request or ask(bench)
    loop.run_until_over(bench.runtime, bench.resources(), orders(), made.request_id)
    return requests.get(bench.runtime.journal, made.request_id)


def story(bench: Bench, request: Request, order: int | None = None) -> list[str]:
    """What the audit log tells of a request, or of one stage in it, in order."""
    kinds = ("StageFailed", "StageFinished", "StageSkipped")
    kinds += ("RemedyChosen", "RetryScheduled", "StageHealed", "RemedyDidNotHelp", "StageHeld")
    kinds += ("FileSetAside", "IncidentOpened", "DatasetRestored")
    ids = set(request.run_ids)
    found = bench.runtime.journal.read(kinds=kinds)
    own_events = [e for e in found if e.run_id in ids or e.request_id == request.request_id]
    if order is not None:
        own_events = [e for e in own_events if e.stage_order == order]
    return [
        f"{event.kind} {event.facts.get('remedy') or event.error_code or ''}".strip()
        for event in own_events
    ]


def stages(bench: Bench, request: Request) -> list[StageRun]:
    """The stage runs of a request, in the order they began."""
    journal = bench.runtime.journal
    return [stage_run for run in request.run_ids for stage_run in runs.stage_runs_of(journal, run)]


def on(monkeypatch: pytest.MonkeyPatch, point: str, do: Callable[[], object]) -> None:
    """Do something once, at a place of the stage where a process may be interrupted."""
    left = [do]
    real = faults.reach

    def reach(name: str) -> None:
        if name == point and left:
            left.pop()()
        real(name)

    monkeypatch.setattr(faults, "reach", reach)


def attempt(bench: Bench, request: Request, resources: WorkerResources | None = None) -> Request:
    """One attempt at a request, whatever wait it has before it; the request as it stands then."""
    bench.sql("UPDATE requests SET not_before = NULL WHERE request_id = ?", request.request_id)
    loop.tick(bench.runtime, resources or bench.resources(), orders(), awaited=request.request_id)
    return requests.get(bench.runtime.journal, request.request_id)


def run_until_over(
    bench: Bench, request: Request | None = None, resources: WorkerResources | None = None
) -> Request:
    """Attempts without their waits until the request is over; the request as it ended."""
    now = request or ask(bench)
    for _attempt in range(12):
        now = attempt(bench, now, resources)
        if now.status not in ("waiting", "running"):
            return now
    raise AssertionError(f"it does not end: {now.because}")


def expected_story(code: str, *remedies: str) -> list[str]:
    """The story of a stage that fails with one code until the last of the remedies helps.

    The last may also leave it to a person (open_incident) or go on without the stage.
    """
    events: list[str] = []
    for index, remedy in enumerate(remedies):
        events.append(f"StageFailed {code}")
        if index:
            events.append(f"RemedyDidNotHelp {remedies[index - 1]}")
        events.append(f"RemedyChosen {remedy}")
        is_held = remedy == "open_incident"
        events.append(f"StageHeld {code}" if is_held else f"RetryScheduled {code}")
    last = remedies[-1]
    if last == "open_incident":
        return [*events, f"IncidentOpened {code}"]
    passed = "StageSkipped" if last == "skip_optional" else "StageFinished"
    return [*events, passed, f"StageHealed {last}"]


def incident_of(bench: Bench, order: int) -> Incident:
    """The open incident of one of the test's stages."""
    about = f"stage:{bench.tag}-{order}"
    return next(
        incident for incident in incidents.listed(bench.runtime.journal) if incident.about == about
    )
