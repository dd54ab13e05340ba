"""Applying files to the catalog: what would change, what that touches, and then the change."""

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
from goldsmith.catalog.snapshot import Snapshot, refresh
from goldsmith.catalog.throttles import Throttle
from goldsmith.errors import GoldsmithError
from goldsmith.journal.definitions import runs
from goldsmith.journal.events import CatalogApplied, CatalogUndone
from goldsmith.journal.journal import Journal
from goldsmith.planning.integrity.finding import Finding, Gravity
from goldsmith.planning.planner import CatalogHasErrors
from goldsmith.planning.survey import Survey
from goldsmith.planning.surveyor import Surveyor


@dataclass(eq=False, kw_only=True)
class CatalogMoved(GoldsmithError):
    """Somebody else changed the catalog between the diff and the apply."""

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
    """What applying some files would do."""

    difference: Difference
    revision: int
    #: Findings the change brings, and findings that are there already.
    brings: tuple[Finding, ...]
    #: Pipelines whose stages have to do with a row that changes.
    touches: tuple[str, ...]
    #: The ones of them that run right now.
    running: tuple[str, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.brings if finding.gravity is Gravity.ERROR)

    def as_plain(self) -> dict[str, Any]:
        return {
            "revision": self.revision,
            "counts": self.difference.counts,
            "rows": [row.as_plain() for row in self.difference.rows],
            "touches": list(self.touches),
            "running": list(self.running),
            "findings": [finding.as_plain() for finding in self.brings],
        }


def propose(surveyor: Surveyor, bundle: Bundle, *, prune: bool = False) -> Proposal:
    """What applying these files would do to the catalog as it is now."""
    survey = surveyor.survey()
    found = difference(bundle, survey.rows, prune=prune)
    after = survey.after(found.applied_to(survey.rows))
    surveyor.keep(after)
    there = set(survey.findings)
    touches = _touched(found, survey, after)
    return Proposal(
        difference=found,
        revision=survey.rows.revision,
        brings=tuple(finding for finding in after.findings if finding not in there),
        touches=touches,
        running=_running(surveyor.catalog, touches),
    )


def apply(
    surveyor: Surveyor,
    bundle: Bundle,
    proposal: Proposal,
    *,
    actor: str,
    reason: str | None,
    prune: bool = False,
    as_shown: bool = True,
) -> tuple[int, Difference]:
    """Apply files in one transaction; the revision it made and what it changed.

    Somebody may change the catalog between the proposal and now. `as_shown` then refuses a
    difference that is not the one that was shown; without it, what the files mean now is done.
    """
    catalog = surveyor.catalog
    done, revision = proposal.difference, proposal.revision
    if proposal.errors:
        raise CatalogHasErrors(findings=proposal.errors)
    if not proposal.difference:
        return revision, done
    base = catalog.snapshot()
    with catalog.change(actor=actor, reason=reason) as change:
        # Nobody else can write from here on: what we read now is what we change.
        now = refresh(base, change.connection, revision=change.revision - 1)
        if now.revision != proposal.revision:
            done = difference(bundle, now, prune=prune)
            if as_shown and done != proposal.difference:
                raise CatalogMoved(shown=proposal.revision, found=now.revision)
            _refuse_new_errors(surveyor, now, done)
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
    """Take back one revision or everything since one, written down like any other change."""

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


def _refuse_new_errors(surveyor: Surveyor, rows: Snapshot, done: Difference) -> None:
    # Of the rows we hold, not of the catalog: what is parsed here is kept by the next survey.
    before = surveyor.last().after(rows)
    there = set(before.findings)
    errors = before.after(done.applied_to(rows)).errors
    brought = tuple(error for error in errors if error not in there)
    if brought:
        raise CatalogHasErrors(findings=brought)


def _signed(row: Row, actor: str) -> Row:
    """A flag says who set it and when, whatever way it was set."""
    if isinstance(row, Flag):
        return replace(row, updated_by=actor, updated_at=datetime.now(UTC))
    return row


def _touched(found: Difference, before: Survey, after: Survey) -> tuple[str, ...]:
    """Pipelines that have to do with a row that changes, as it was or as it will be."""
    changed = [(type(row.row), row.row.key) for row in found.rows]
    names = {
        near.stage.pipeline_id
        for survey in (before, after)
        for stage in (*survey.stages_around(changed), *_throttled(found, survey))
        if (near := survey.stages.get(stage)) is not None
    }
    names |= {
        row.row.key[0] for row in found.rows if isinstance(row.row, Pipeline | PipelineProfile)
    }
    return tuple(sorted(names))


def _throttled(found: Difference, survey: Survey) -> Iterator[str]:
    """The stages that use a dataset whose limit changes."""
    for row in found.rows:
        for throttle in (row.before, row.after):
            if isinstance(throttle, Throttle):
                yield from survey.dependents.get(("dataset", throttle.entity_id), ())


def _running(catalog: Catalog, pipelines: tuple[str, ...]) -> tuple[str, ...]:
    with database.reading(catalog.engine) as connection:
        found = connection.execute(
            sa.select(runs.c.pipeline_id).where(runs.c.status == "running").distinct()
        ).scalars()
        return tuple(sorted(set(found) & set(pipelines)))
