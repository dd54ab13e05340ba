"""Routes of the catalog: read rows, propose and apply changes, history, undo, findings."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Annotated, Any

import yaml
from fastapi import APIRouter, Header, Path, Query, Response
from pydantic import BaseModel, Field

from goldsmith.api.access import EditorOfAll, OpenRuntime, ViewerOfAll
from goldsmith.api.models import Page, RequestBody
from goldsmith.api.paging import Cursor, Limit, page, page_by_key, position_of
from goldsmith.api.repeats import ActOnce
from goldsmith.catalog import bundle, changes
from goldsmith.catalog.bundle import Bundle
from goldsmith.catalog.rows import Row, key_text
from goldsmith.catalog.schema import BY_TABLE
from goldsmith.errors import BadRequest, GoldsmithError
from goldsmith.planning import apply_files
from goldsmith.registry import UnknownName
from goldsmith.runtime import Runtime

router = APIRouter(prefix="/catalog", tags=["catalog"])

Table = Annotated[str, Path(max_length=100, description="A table of the catalog.")]
RowKey = Annotated[str, Path(max_length=2000, description="The key; parts joined by a slash.")]


@dataclass(eq=False, kw_only=True)
class RowChanged(GoldsmithError):
    """Somebody changed a row after the caller read it."""

    table: str
    key: str

    def __str__(self) -> str:
        return f"The row {self.key} of {self.table} is not the one that If-Match names."

    @property
    def hint(self) -> str:
        return "Read the row again, and send its ETag with the change."


class ProposedRows(RequestBody):
    """Rows to write, as catalog files have them: as YAML text, or by table."""

    yaml: str | None = Field(default=None, description="A catalog file as text.")
    rows: dict[str, list[dict[str, Any]]] | None = Field(
        default=None,
        description="Rows by table.",
        examples=[{"pipelines": [{"pipeline_id": "orders", "owner": "ann@example.com"}]}],
    )
    prune: bool = Field(default=False, description="Also remove rows that are missing here.")

    def bundle(self) -> Bundle:
        """The rows, read as a catalog file."""
        if (self.yaml is None) == (self.rows is None):
            raise BadRequest(
                sentence="The body needs either `yaml` or `rows`.",
                advice="Send a catalog file as text, or rows by table.",
            )
        text = self.yaml if self.yaml is not None else yaml.safe_dump(self.rows)
        return bundle.load([("request", text)])


class AppliedRows(ProposedRows):
    """Rows to apply, with the reason and the revision the caller has seen."""

    reason: str | None = Field(default=None, max_length=2000, description="Why, for the history.")
    revision: int | None = Field(
        default=None, description="Refuse if the catalog is at another revision than this."
    )


class Undo(RequestBody):
    """Which revision to undo."""

    revision: int | None = Field(default=None, ge=0)
    since: int | None = Field(default=None, ge=0, description="Undo everything after this one.")
    reason: str | None = Field(default=None, max_length=2000)
    dry_run: bool = False


class TableCount(BaseModel):
    """A table of the catalog."""

    table: str
    rows: int
    purpose: str


@router.get("/tables")
def tables(caller: ViewerOfAll, runtime: OpenRuntime) -> dict[str, Any]:
    """The tables with their number of rows, and the revision of the catalog."""
    rows = runtime.catalog.snapshot()
    counts = [
        TableCount(table=name, rows=len(rows.tables[name]), purpose=kind.table.purpose)
        for name, kind in BY_TABLE.items()
    ]
    return {"revision": rows.revision, "tables": [entry.model_dump() for entry in counts]}


@router.get("/tables/{table}", response_model=Page[dict[str, Any]])
def rows_of(
    caller: ViewerOfAll,
    runtime: OpenRuntime,
    table: Table,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Any:
    """The rows of one table, in the order of their keys."""
    kind = _kind(table)
    rows = runtime.catalog.snapshot().tables[table].values()
    shown = [_with_key(row) for row in rows]
    return page_by_key(shown, lambda row: str(row["_key"]), cursor, limit) | {
        "table": kind.table.name
    }


@router.get("/tables/{table}/definition")
def definition(caller: ViewerOfAll, table: Table) -> dict[str, Any]:
    """The columns of a table: type, allowed values, default and documentation, for forms."""
    kind = _kind(table)
    return {
        "table": table,
        "purpose": kind.table.purpose,
        "takes_effect": kind.table.takes_effect,
        "columns": [
            {
                "name": column.name,
                "kind": column.kind.value,
                "is_key": column.is_key,
                "required": column.required,
                "choices": list(column.choices),
                "default": column.default if not callable(column.default) else None,
                "doc": column.doc,
            }
            for column in kind.table.in_files
        ],
    }


@router.get("/tables/{table}/rows/{key:path}")
def row(
    caller: ViewerOfAll, runtime: OpenRuntime, response: Response, table: Table, key: RowKey
) -> dict[str, Any]:
    """One row with its last changes; the header ETag names this version of the row."""
    found = _row(runtime, table, key)
    history = changes.history(
        runtime.catalog, table=table, key=[str(part) for part in found.key], most=20
    )
    response.headers["ETag"] = etag_of(found)
    return {
        "row": found.as_plain(),
        "file": found.as_file(),
        "history": [change.as_plain() for change in history],
    }


class RowValues(RequestBody):
    """The new values of one row."""

    values: dict[str, Any] = Field(description="The row as in a catalog file, with its key.")
    reason: str | None = Field(default=None, max_length=2000)
    dry_run: bool = Field(default=False, description="Only show the difference and the findings.")


@router.put("/tables/{table}/rows/{key:path}")
def write_row(
    caller: EditorOfAll,
    runtime: OpenRuntime,
    response: Response,
    once: ActOnce,
    table: Table,
    key: RowKey,
    body: RowValues,
    if_match: Annotated[str | None, Header(alias="If-Match")] = None,
) -> dict[str, Any]:
    """Write one row: refused where it brings errors, or where somebody changed it meanwhile."""
    kind = _kind(table)
    there = runtime.catalog.snapshot().tables[table]
    current = next((found for k, found in there.items() if key_text(k) == key), None)
    if if_match is not None and (current is None or etag_of(current) != if_match):
        raise RowChanged(table=table, key=key)
    proposed = bundle.load([("request", yaml.safe_dump({kind.table.name: [body.values]}))])
    written = [row for rows in proposed.rows.values() for row in rows.values()]
    if len(written) != 1 or key_text(written[0].key) != key:
        raise BadRequest(
            sentence=f"The values are not those of the row {key} of {table}.",
            advice="Send exactly one row, with the key of the address.",
        )
    proposal = apply_files.propose(runtime.catalog_indexer, proposed)
    if body.dry_run:
        return {**proposal.as_plain(), "applied": False}
    answer = once(caller, lambda: _apply(runtime, caller.owner, proposed, proposal, body.reason))
    response.headers["ETag"] = etag_of(_row(runtime, table, key))
    return answer


@router.get("/findings")
def findings(caller: ViewerOfAll, runtime: OpenRuntime) -> list[dict[str, Any]]:
    """Every problem of the catalog's rows."""
    return [found.as_plain() for found in runtime.catalog_indexer.catalog_index().findings]


@router.post("/diff")
def diff(caller: ViewerOfAll, runtime: OpenRuntime, body: ProposedRows) -> dict[str, Any]:
    """What applying these rows would change, whom it touches, and what would be wrong."""
    proposal = apply_files.propose(runtime.catalog_indexer, body.bundle(), prune=body.prune)
    return proposal.as_plain()


@router.post("/apply")
def apply(
    caller: EditorOfAll, runtime: OpenRuntime, once: ActOnce, body: AppliedRows
) -> dict[str, Any]:
    """Apply rows in one transaction; refused if they bring errors. Data is never deleted."""
    rows = body.bundle()
    proposal = apply_files.propose(runtime.catalog_indexer, rows, prune=body.prune)
    if body.revision is not None and proposal.revision != body.revision:
        raise apply_files.CatalogMoved(shown=body.revision, found=proposal.revision)
    return once(
        caller, lambda: _apply(runtime, caller.owner, rows, proposal, body.reason, body.prune)
    )


@router.get(
    "/export",
    response_class=Response,
    responses={200: {"content": {"application/yaml": {"schema": {"type": "string"}}}}},
)
def export(caller: ViewerOfAll, runtime: OpenRuntime) -> Response:
    """The catalog as one YAML text; applying it again changes nothing."""
    rows = runtime.catalog.snapshot()
    return Response(
        bundle.export(rows),
        media_type="application/yaml",
        headers={"ETag": f'"{rows.revision}"'},
    )


@router.get("/history", response_model=Page[dict[str, Any]])
def history(
    caller: ViewerOfAll,
    runtime: OpenRuntime,
    table: Annotated[str | None, Query(max_length=100)] = None,
    key: Annotated[str | None, Query(max_length=2000)] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Any:
    """Who changed which row, when and why, newest first."""
    before = position_of(cursor, int)
    found = changes.history(
        runtime.catalog,
        table=table,
        key=None if key is None else key.split("/"),
        before=None if before is None else before[0],
        most=limit + 1,
    )
    return page(found, limit, lambda change: change.as_plain(), lambda change: [change.change_id])


@router.post("/undo")
def undo(caller: EditorOfAll, runtime: OpenRuntime, once: ActOnce, body: Undo) -> dict[str, Any]:
    """Undo one revision, or everything since one; the undo is a new revision."""
    if (body.revision is None) == (body.since is None):
        raise BadRequest(
            sentence="The body needs either `revision` or `since`.",
            advice="`GET /api/v1/catalog/history` lists the revisions.",
        )

    def act() -> dict[str, Any]:
        done = apply_files.undo(
            runtime.catalog,
            actor=caller.owner,
            revision=body.revision,
            since=body.since,
            reason=body.reason,
            dry_run=body.dry_run,
        )
        rows = [row.as_plain() for row in done.rows]
        return {"revision": runtime.catalog.revision(), "rows": rows, "undone": not body.dry_run}

    return act() if body.dry_run else once(caller, act)


def etag_of(row: Row) -> str:
    """The version of a row: a hash of its values."""
    text = json.dumps(row.as_plain(), sort_keys=True, default=str)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def _apply(
    runtime: Runtime,
    actor: str,
    rows: Bundle,
    proposal: apply_files.Proposal,
    reason: str | None,
    prune: bool = False,
) -> dict[str, Any]:
    revision, done = apply_files.apply(
        runtime.catalog_indexer, rows, proposal, actor=actor, reason=reason, prune=prune
    )
    return {**proposal.as_plain(), "revision": revision, "applied": bool(done)}


def _kind(table: str) -> type[Row]:
    if table not in BY_TABLE:
        raise UnknownName(noun="table", name=table, known=tuple(BY_TABLE))
    return BY_TABLE[table]


def _row(runtime: Runtime, table: str, key: str) -> Row:
    _kind(table)
    rows = runtime.catalog.snapshot().tables[table]
    found = next((row for k, row in rows.items() if key_text(k) == key), None)
    if found is None:
        known = tuple(key_text(k) for k in rows)
        raise UnknownName(noun=f"row of {table}", name=key, known=known)
    return found


def _with_key(row: Row) -> dict[str, Any]:
    return {"_key": key_text(row.key), **row.as_plain()}
