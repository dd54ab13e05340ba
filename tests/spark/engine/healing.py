"""What tests of healing share: small pipelines, attempts one by one, and the story of a request."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from goldsmith.engine import faults
from goldsmith.engine.run import Orders
from goldsmith.engine.work import Asked, Tools
from goldsmith.journal import incidents, requests
from goldsmith.journal.tables import Request
from goldsmith.journal.tables_of_healing import Incident
from goldsmith.scheduling import loop
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


def ask(bench: Bench) -> Request:
    return loop.ask(bench.runtime, [bench.tag], {}, "test")


def orders() -> Orders:
    return Orders(request_id=None, asked=Asked(), asked_by="test", at_once=1)


def healed(bench: Bench, asked: Request | None = None) -> Request:
    """Ask and see it through; the request as it ended."""
    made = asked or ask(bench)
    loop.see_through(bench.runtime, bench.tools(), orders(), made.request_id)
    return requests.get(bench.runtime.journal, made.request_id)


def story(bench: Bench, request: Request, order: int | None = None) -> list[str]:
    """What the audit log tells of a request, or of one stage in it, in order."""
    kinds = ("StageFailed", "StageFinished", "StageSkipped")
    kinds += ("RemedyChosen", "RetryScheduled", "StageHealed", "RemedyDidNotHelp", "StageHeld")
    kinds += ("FileSetAside", "IncidentOpened", "DatasetRestored")
    ids = set(request.run_ids)
    found = bench.runtime.journal.read(kinds=kinds)
    mine = [e for e in found if e.run_id in ids or e.request_id == request.request_id]
    if order is not None:
        mine = [e for e in mine if e.stage_order == order]
    return [
        f"{event.kind} {event.facts.get('remedy') or event.error_code or ''}".strip()
        for event in mine
    ]


def on(monkeypatch: pytest.MonkeyPatch, place: str, do: Callable[[], object]) -> None:
    """Do something once, at a place of the stage where a process may be interrupted."""
    left = [do]
    real = faults.reach

    def reach(name: str) -> None:
        if name == place and left:
            left.pop()()
        real(name)

    monkeypatch.setattr(faults, "reach", reach)


def attempt(bench: Bench, asked: Request, tools: Tools | None = None) -> Request:
    """One attempt at a request, whatever wait it has before it; the request as it stands then."""
    bench.sql("UPDATE requests SET not_before = NULL WHERE request_id = ?", asked.request_id)
    loop.tick(bench.runtime, tools or bench.tools(), orders(), mine=asked.request_id)
    return requests.get(bench.runtime.journal, asked.request_id)


def seen_through(bench: Bench, asked: Request | None = None, tools: Tools | None = None) -> Request:
    """Attempts without their waits until the request is over; the request as it ended."""
    now = asked or ask(bench)
    for _attempt in range(12):
        now = attempt(bench, now, tools)
        if now.status not in ("waiting", "running"):
            return now
    raise AssertionError(f"it does not end: {now.because}")


def told(code: str, *remedies: str) -> list[str]:
    """The story of a stage that fails with one code until the last of the remedies helps.

    The last may also leave it to a person (open_incident) or go on without the stage.
    """
    said: list[str] = []
    for place, remedy in enumerate(remedies):
        said.append(f"StageFailed {code}")
        if place:
            said.append(f"RemedyDidNotHelp {remedies[place - 1]}")
        said.append(f"RemedyChosen {remedy}")
        is_held = remedy == "open_incident"
        said.append(f"StageHeld {code}" if is_held else f"RetryScheduled {code}")
    last = remedies[-1]
    if last == "open_incident":
        return [*said, f"IncidentOpened {code}"]
    passed = "StageSkipped" if last == "skip_optional" else "StageFinished"
    return [*said, passed, f"StageHealed {last}"]


def incident_of(bench: Bench, order: int) -> Incident:
    """The open incident of one of the test's stages."""
    about = f"stage:{bench.tag}-{order}"
    return next(one for one in incidents.listed(bench.runtime.journal) if one.about == about)
