"""Find what the argument of `why` names: a pipeline, stage, dataset, run, request, everything."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from goldsmith.journal.errors import UnknownEntity
from goldsmith.journal.status_query import StatusConnection

_KNOWN: dict[str, str] = {
    "pipeline": "SELECT pipeline_id AS id FROM pipelines WHERE pipeline_id = :id",
    "dataset": "SELECT source_id AS id FROM sources WHERE source_id = :id"
    " UNION SELECT target_id FROM targets WHERE target_id = :id"
    " UNION SELECT target_id FROM stages WHERE target_id = :id"
    " UNION SELECT source_id FROM stages WHERE source_id = :id",
    "stage": "SELECT pipeline_id, stage_order, stage_name, source_id, target_id FROM stages"
    " WHERE pipeline_id || '-' || stage_order = :id",
    "run": "SELECT run_id AS id FROM runs WHERE run_id = :id"
    " UNION SELECT run_id FROM stage_runs WHERE stage_run_id = :id AND run_id IS NOT NULL",
    "request": "SELECT request_id AS id FROM requests WHERE request_id = :id",
}
#: The kinds a name without a prefix is looked up as, in this order.
_BARE = ("pipeline", "dataset", "stage", "run", "request")
#: A source or a target is a dataset.
_KIND_OF_PREFIX = {**{kind: kind for kind in _BARE}, "source": "dataset", "target": "dataset"}

_NAMES = (
    "SELECT pipeline_id AS id FROM pipelines",
    "SELECT source_id AS id FROM sources",
    "SELECT target_id AS id FROM targets",
    "SELECT pipeline_id || '-' || stage_order AS id FROM stages",
    "SELECT run_id AS id FROM runs ORDER BY started_at DESC LIMIT 200",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """Something whose state `why` can explain."""

    kind: str
    id: str

    def __str__(self) -> str:
        return "everything" if self.kind == "everything" else f"{self.kind}:{self.id}"


def find(look: StatusConnection, text: str) -> Entity:
    """The entity with this name; raises UnknownEntity with similar names if there is none."""
    if text in ("everything", "everything:*"):
        return Entity(kind="everything", id="*")
    prefix, colon, rest = text.partition(":")
    if colon and prefix in _KIND_OF_PREFIX:
        wanted: tuple[str, ...] = (_KIND_OF_PREFIX[prefix],)
        name = rest
    else:
        wanted, name = _BARE, text
    for kind in wanted:
        row = look.row(_KNOWN[kind], id=name)
        if row is not None:
            return Entity(kind=kind, id=_id(row, name))
    raise UnknownEntity(entity=text, suggestions=_nearest(look, name))


def _id(row: dict[str, Any], name: str) -> str:
    # The id of a stage run is replaced by the id of its run.
    return str(row.get("id") or name)


def _nearest(look: StatusConnection, name: str) -> tuple[str, ...]:
    known = {str(row["id"]) for sql in _NAMES for row in look.rows(sql)}
    return tuple(get_close_matches(name, sorted(known), n=3, cutoff=0.6))
