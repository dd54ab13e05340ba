"""Apply catalog files: show what would change and which pipelines it affects, then change it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog import changes, database
from goldsmith.catalog.bundle import Bundle
from goldsmith.catalog.catalog import Catalog, Change
from goldsmith.catalog.difference import Difference, RowDifference, difference
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline
from goldsmith.catalog.profiles import PipelineProfile
from goldsmith.catalog.rows import Row
from goldsmith.catalog.snapshot import CatalogRows, refresh
from goldsmith.catalog.throttles import Throttle
from goldsmith.errors import GoldsmithError
from goldsmith.journal.definitions import runs
from goldsmith.journal.events import CatalogApplied, CatalogUndone
from goldsmith.journal.journal import Journal
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.catalog_indexer import CatalogIndexer
from goldsmith.planning.integrity.finding import Finding, FindingSeverity
from goldsmith.planning.planner import CatalogHasErrors


@dataclass(eq=False, kw_only=True)
class CatalogMoved(GoldsmithError):
    """The catalog was changed by somebody else between the diff and the apply."""

    transient = True

    shown: int
    found: int

    def __str__(self) -> str:
        return (
            f"The catalog went from revision {self.shown} to {self.found} "
            "while the difference was being looked at, and it is another one now."
        )

    @property
    def hint(self) -> str:
        return "Look at `goldsmith diff` again, then apply. Nothing was changed."


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """What applying some files would change."""

    difference: Difference
    revision: int
    #: Findings that the catalog does not have yet.
    brings: tuple[Finding, ...]
    #: Pipelines whose stages depend on a changed row.
    touches: tuple[str, ...]
    #: Those of the affected pipelines that are running now.
    running: tuple[str, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.brings if finding.gravity is FindingSeverity.ERROR)

    def as_plain(self) -> dict[str, Any]:
        return {
            "revision": self.revision,
            "counts": self.difference.counts,
            "rows": [row.as_plain() for row in self.difference.rows],
            "touches": list(self.touches),
            "running": list(self.running),
            "findings": [finding.as_plain() for finding in self.brings],
        }


def propose(catalog_indexer: CatalogIndexer, bundle: Bundle, *, prune: bool = False) -> Proposal:
    """What applying these files would change in the catalog now."""
    catalog_index = catalog_indexer.catalog_index()
    found = difference(bundle, catalog_index.rows, prune=prune)
    after = catalog_index.after(found.applied_to(catalog_index.rows))
    catalog_indexer.keep(after)
    there = set(catalog_index.findings)
    touches = _touched(found, catalog_index, after)
    return Proposal(
        difference=found,
        revision=catalog_index.rows.revision,
        brings=tuple(finding for finding in after.findings if finding not in there),
        touches=touches,
        running=_running(catalog_indexer.catalog, touches),
    )


def apply(
    catalog_indexer: CatalogIndexer,
    bundle: Bundle,
    proposal: Proposal,
    *,
    actor: str,
    reason: str | None,
    prune: bool = False,
    as_shown: bool = True,
) -> tuple[int, Difference]:
    """Apply files in one transaction; returns the new revision and what was changed.

    If the catalog changed since the proposal, the difference is computed again. With `as_shown`,
    a difference other than the proposed one is refused; without it, it is applied.
    """
    catalog = catalog_indexer.catalog
    done, revision = proposal.difference, proposal.revision
    if proposal.errors:
        raise CatalogHasErrors(findings=proposal.errors)
    if not proposal.difference:
        return revision, done
    base = catalog.snapshot()
    with catalog.change(actor=actor, reason=reason) as change:
        # The transaction blocks other writers: these rows stay as they are until it ends.
        now = refresh(base, change.connection, revision=change.revision - 1)
        if now.revision != proposal.revision:
            done = difference(bundle, now, prune=prune)
            if as_shown and done != proposal.difference:
                raise CatalogMoved(shown=proposal.revision, found=now.revision)
            _refuse_new_errors(catalog_indexer, now, done)
        if not done:
            change.abandon()
        change.remove([row.before for row in done.of("removed") if row.before is not None])
        change.put([_signed(row.after, actor) for row in done.rows if row.after is not None])
        revision = change.revision
        applied = CatalogApplied(
            actor=actor,
            revision=revision,
            added=len(done.of("added")),
            changed=len(done.of("changed")),
            removed=len(done.of("removed")),
            because=reason,
        )
        Journal(catalog.engine).record(applied, connection=change.connection)
    return revision, done


def undo(
    catalog: Catalog,
    *,
    actor: str,
    revision: int | None = None,
    since: int | None = None,
    reason: str | None = None,
    dry_run: bool = False,
) -> Difference:
    """Undo one revision, or all revisions since one; the undo is recorded as a change itself."""

    def record(change: Change, rows: int) -> None:
        undone = CatalogUndone(
            actor=actor,
            revision=change.revision,
            rows=rows,
            undone=revision,
            since=since,
            because=reason,
        )
        Journal(catalog.engine).record(undone, connection=change.connection)

    pairs = changes.undo(
        catalog,
        actor=actor,
        revision=revision,
        since=since,
        reason=reason,
        dry_run=dry_run,
        then=record,
    )
    found = [RowDifference(before=now, after=then) for now, then in pairs if now != then]
    return Difference(rows=tuple(found))


def _refuse_new_errors(
    catalog_indexer: CatalogIndexer, rows: CatalogRows, done: Difference
) -> None:
    # Index the rows of this transaction; the next catalog index stores the SQL facts parsed here.
    before = catalog_indexer.last().after(rows)
    there = set(before.findings)
    errors = before.after(done.applied_to(rows)).errors
    brought = tuple(error for error in errors if error not in there)
    if brought:
        raise CatalogHasErrors(findings=brought)


def _signed(row: Row, actor: str) -> Row:
    """Set who changed a flag and when; other rows stay as they are."""
    if isinstance(row, Flag):
        return replace(row, updated_by=actor, updated_at=datetime.now(UTC))
    return row


def _touched(found: Difference, before: CatalogIndex, after: CatalogIndex) -> tuple[str, ...]:
    """The pipelines that depend on a changed row, before or after the change."""
    changed = [(type(row.row), row.row.key) for row in found.rows]
    names = {
        context.stage.pipeline_id
        for catalog_index in (before, after)
        for stage in (*catalog_index.stages_around(changed), *_throttled(found, catalog_index))
        if (context := catalog_index.stages.get(stage)) is not None
    }
    names |= {
        row.row.key[0] for row in found.rows if isinstance(row.row, Pipeline | PipelineProfile)
    }
    return tuple(sorted(names))


def _throttled(found: Difference, catalog_index: CatalogIndex) -> Iterator[str]:
    """The stages that use a dataset whose throttle changes."""
    for row in found.rows:
        for throttle in (row.before, row.after):
            if isinstance(throttle, Throttle):
                yield from catalog_index.dependents.get(("dataset", throttle.entity_id), ())


def _running(catalog: Catalog, pipelines: tuple[str, ...]) -> tuple[str, ...]:
    with database.reading(catalog.engine) as connection:
        found = connection.execute(
            sa.select(runs.c.pipeline_id).where(runs.c.status == "running").distinct()
        ).scalars()
        return tuple(sorted(set(found) & set(pipelines)))
