"""What `goldsmith status` shows: what runs, waits, failed last and is stopped, in one look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from goldsmith.catalog.columns import plain
from goldsmith.journal.look import Look, looking
from goldsmith.journal.owners import is_gone

PARTS = ("running", "waiting", "failed", "stopped")

_ENTRIES = """
SELECT subject, since, because, who, until, id, worker FROM v_status
WHERE part = :part ORDER BY since DESC LIMIT :most
"""
_COUNTS = "SELECT part, count(*) AS entries FROM v_status GROUP BY part"
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
    #: The process that carries it out is dead; the next command that runs cleans up.
    abandoned: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What runs, or waits, or failed, or is stopped: all counted, the newest shown."""

    count: int
    newest: tuple[Entry, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pipelines:
    """The pipelines, counted."""

    total: int
    stopped: int
    running: int
    never_ran: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Glance:
    """How everything stands."""

    now: datetime
    revision: int
    pipelines: Pipelines
    parts: Mapping[str, Part]

    def as_plain(self) -> dict[str, Any]:
        """The same as JSON can say it."""
        parts = {
            name: {"count": part.count, "newest": [plain(asdict(e)) for e in part.newest]}
            for name, part in self.parts.items()
        }
        counted = asdict(self.pipelines)
        return {"now": plain(self.now), "revision": self.revision, "pipelines": counted} | parts


def glance(url: str, *, most: int = 8) -> Glance:
    """How everything stands now, by the rows of the catalog at this address."""
    with looking(url) as look:
        counted = look.rows(_PIPELINES)[0]
        entries = {row["part"]: row["entries"] for row in look.rows(_COUNTS)}
        parts = {name: _part(look, name, entries.get(name, 0), most) for name in PARTS}
    return Glance(
        now=counted.pop("now"),
        revision=counted.pop("revision"),
        pipelines=Pipelines(**counted),
        parts=parts,
    )


def _part(look: Look, name: str, count: int, most: int) -> Part:
    rows = look.rows(_ENTRIES, part=name, most=most) if count else []
    return Part(
        count=count,
        newest=tuple(
            Entry(**row, abandoned=name == "running" and is_gone(worker))
            for row in rows
            for worker in (row.pop("worker"),)
        ),
    )
