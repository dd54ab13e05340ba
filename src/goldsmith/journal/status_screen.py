"""What `goldsmith status` shows: what runs, waits, failed last and is stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from goldsmith.catalog.columns import plain
from goldsmith.journal.owners import is_gone
from goldsmith.journal.status_query import (
    IS_SPECIAL,
    SPECIAL_RUNS,
    StatusConnection,
    open_status_connection,
)

PARTS = ("running", "waiting", "failed", "stopped")

_ENTRIES = """
SELECT subject, since, because, who, until, id, worker FROM v_status
WHERE part = :part ORDER BY since DESC LIMIT :most
"""
#: Leaves special runs out of the failed runs: they do not count for their pipeline.
_SPECIAL = f"""(SELECT 1 FROM requests q WHERE q.request_id = {{run}}.request_id
    AND {IS_SPECIAL})"""
_FAILED = f"""
SELECT 'pipeline:' || r.pipeline_id AS subject, r.ended_at AS since,
  coalesce(r.error_code || coalesce(': ' || r.error_message, ''), r.because, r.status) AS because,
  r.asked_by AS who, NULL AS until, r.run_id AS id, r.worker
FROM runs r
WHERE r.status IN ('failed', 'interrupted') AND NOT EXISTS {_SPECIAL.format(run="r")}
  AND NOT EXISTS (
    SELECT 1 FROM runs x WHERE x.pipeline_id = r.pipeline_id AND x.started_at > r.started_at
      AND x.status IN ('succeeded', 'skipped', 'failed', 'interrupted')
      AND NOT EXISTS {_SPECIAL.format(run="x")})
ORDER BY since DESC
"""
_COUNTS = "SELECT part, count(*) AS entries FROM v_status GROUP BY part"
#: Failed checks of each stage's last published run: they only warned.
_WARNED = """
SELECT 'stage:' || v.pipeline_id || '-' || v.stage_order AS subject, v.at AS since,
  v.check_name || ': ' || coalesce(v.message, '') AS because, NULL AS who, NULL AS until,
  v.run_id AS id
FROM stages s JOIN verdicts v ON v.stage_run_id = (
  SELECT r.stage_run_id FROM stage_runs r
  WHERE r.pipeline_id = s.pipeline_id AND r.stage_order = s.stage_order
    AND r.status = 'succeeded'
  ORDER BY r.started_at DESC LIMIT 1)
WHERE NOT v.passed AND v.severity <> 'info'
ORDER BY v.at DESC
"""
#: Stages whose newest attempt found a source that has no file and never had one.
_MISSING = """
SELECT 'stage:' || s.pipeline_id || '-' || s.stage_order AS subject, r.ended_at AS since,
  r.facts, r.run_id AS id
FROM stages s JOIN stage_runs r ON r.stage_run_id = (
  SELECT x.stage_run_id FROM stage_runs x
  WHERE x.pipeline_id = s.pipeline_id AND x.stage_order = s.stage_order
  ORDER BY x.started_at DESC LIMIT 1)
WHERE CAST(r.facts AS TEXT) LIKE :missing
ORDER BY r.ended_at DESC
"""
_PIPELINES = """
SELECT (SELECT count(*) FROM pipelines) AS total,
  (SELECT count(*) FROM pipelines p
    WHERE EXISTS (SELECT 1 FROM v_stops WHERE entity_type = 'everything')
      OR p.pipeline_id IN (SELECT entity_id FROM v_stops WHERE entity_type = 'pipeline')
  ) AS stopped,
  (SELECT count(DISTINCT pipeline_id) FROM runs WHERE status = 'running') AS running,
  (SELECT count(*) FROM pipelines p
    WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.pipeline_id = p.pipeline_id)) AS never_ran,
  (SELECT revision FROM catalog_revision) AS revision,
  CURRENT_TIMESTAMP AS now
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One line of the status."""

    subject: str
    since: datetime | None
    because: str | None
    who: str | None
    until: datetime | None
    id: str | None
    #: The process that runs it is dead; the next command that runs pipelines cleans up.
    abandoned: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One part of the status: the number of its entries, and the newest ones."""

    count: int
    newest: tuple[Entry, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pipelines:
    """The numbers of pipelines."""

    total: int
    stopped: int
    running: int
    never_ran: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusScreen:
    """The status of everything."""

    now: datetime
    revision: int
    pipelines: Pipelines
    parts: Mapping[str, Part]

    def as_plain(self) -> dict[str, Any]:
        """The same as plain values for JSON."""
        parts = {
            name: {"count": part.count, "newest": [plain(asdict(e)) for e in part.newest]}
            for name, part in self.parts.items()
        }
        counted = asdict(self.pipelines)
        return {"now": plain(self.now), "revision": self.revision, "pipelines": counted} | parts


def status_screen(url: str, *, most: int = 8) -> StatusScreen:
    """The current status of everything in the catalog at this URL."""
    with open_status_connection(url) as look:
        counted = look.rows(_PIPELINES)[0]
        entries = {row["part"]: row["entries"] for row in look.rows(_COUNTS)}
        parts = {name: _part(look, name, entries.get(name, 0), most) for name in PARTS}
        failed = look.rows(_FAILED, **SPECIAL_RUNS)
        parts["failed"] = Part(count=len(failed), newest=_entries("failed", failed[:most]))
        warned = [*_missing(look), *look.rows(_WARNED)]
        parts["warned"] = Part(
            count=len(warned),
            newest=tuple(Entry(**row, abandoned=False) for row in warned[:most]),
        )
    return StatusScreen(
        now=counted.pop("now"),
        revision=counted.pop("revision"),
        pipelines=Pipelines(**counted),
        parts=parts,
    )


def _missing(look: StatusConnection) -> list[dict[str, Any]]:
    return [
        {**row, "because": "; ".join(facts["sources_missing"]), "who": None, "until": None}
        for row in look.rows(_MISSING, missing='%"sources_missing":%')
        for facts in (row.pop("facts"),)
    ]


def _part(look: StatusConnection, name: str, count: int, most: int) -> Part:
    rows = look.rows(_ENTRIES, part=name, most=most) if count else []
    return Part(count=count, newest=_entries(name, rows))


def _entries(name: str, rows: list[dict[str, Any]]) -> tuple[Entry, ...]:
    return tuple(
        Entry(**row, abandoned=name == "running" and is_gone(worker))
        for row in rows
        for worker in (row.pop("worker"),)
    )
