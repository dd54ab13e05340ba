"""Remedies that were used, whether they helped, and files that were set aside."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa

from goldsmith.journal import events_of_healing as events
from goldsmith.journal import stored
from goldsmith.journal.clock import moment, now
from goldsmith.journal.definitions import files_aside, healing_uses, runs, stage_runs
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import RunStatus, StageRun
from goldsmith.journal.tables_of_healing import FileAside, HealingUse, Outcome


def use(journal: Journal, used: HealingUse, *, connection: sa.Connection) -> HealingUse:
    """Write down that a remedy is used, with the event."""
    kept = stored.insert(connection, used, at=moment(used.at))
    journal.record(
        events.RemedyChosen(
            pipeline_id=kept.pipeline_id,
            stage_order=kept.stage_order,
            request_id=kept.request_id,
            run_id=kept.run_id,
            stage_run_id=kept.stage_run_id,
            remedy=str(kept.remedy),
            error_code=str(kept.error_code),
            resolution=str(kept.because),
        ),
        connection=connection,
    )
    return kept


def uses(
    journal: Journal,
    *,
    since: datetime | None = None,
    error_code: str | None = None,
    pipeline_id: str | None = None,
    most: int | None = None,
    connection: sa.Connection | None = None,
) -> list[HealingUse]:
    """Uses of remedies, the newest first."""
    asked = sa.select(healing_uses).order_by(healing_uses.c.at.desc(), healing_uses.c.use_id)
    if since is not None:
        asked = asked.where(healing_uses.c.at >= since)
    for column, wanted in (
        (healing_uses.c.error_code, error_code),
        (healing_uses.c.pipeline_id, pipeline_id),
    ):
        if wanted is not None:
            asked = asked.where(column == wanted)
    with journal.reading(connection) as reading:
        return stored.select(reading, HealingUse, asked.limit(most))


def judge(
    journal: Journal, request_id: str, ended: Collection[StageRun], *, connection: sa.Connection
) -> list[HealingUse]:
    """Say of the remedies used in a request whether the stages got past their errors."""
    asked = sa.select(healing_uses).where(
        healing_uses.c.request_id == request_id,
        healing_uses.c.outcome == Outcome.PENDING.value,
        healing_uses.c.did != "hold",
    )
    judged = []
    by_stage = {(one.pipeline_id, one.stage_order): one for one in ended}
    for pending in stored.select(connection, HealingUse, asked):
        stage_run = by_stage.get((pending.pipeline_id, pending.stage_order))
        helped = None if stage_run is None else _helped(pending, stage_run)
        if stage_run is None or helped is None or stage_run.stage_run_id == pending.stage_run_id:
            continue
        outcome = Outcome.HELPED if helped else Outcome.FAILED
        mine = {"use_id": pending.use_id}
        kept = stored.update(connection, HealingUse, mine, outcome=outcome.value, judged_at=now())
        assert kept is not None
        judged.append(kept)
        journal.record(_said(kept, stage_run), connection=connection)
    return judged


def _helped(use: HealingUse, stage_run: StageRun) -> bool | None:
    """The attempt got past the error; None where it did not come that far."""
    if stage_run.status in (RunStatus.SUCCEEDED, RunStatus.SKIPPED):
        return True
    if stage_run.status == RunStatus.FAILED:
        return stage_run.error_code != use.error_code
    return None


def _said(use: HealingUse, stage_run: StageRun) -> events.StageHealed | events.RemedyDidNotHelp:
    about = {
        "pipeline_id": use.pipeline_id,
        "stage_order": use.stage_order,
        "request_id": use.request_id,
        "run_id": stage_run.run_id,
        "stage_run_id": stage_run.stage_run_id,
        "remedy": str(use.remedy),
        "error_code": str(use.error_code),
    }
    if use.outcome == Outcome.HELPED:
        return events.StageHealed(**about, resolution=str(use.because))  # type: ignore[arg-type]
    return events.RemedyDidNotHelp(**about)  # type: ignore[arg-type]


def set_aside(journal: Journal, file: FileAside, *, connection: sa.Connection) -> None:
    """Leave a file out until somebody writes it anew; setting it aside twice is no news."""
    same = [files_aside.c[name] == getattr(file, name) for name in ("dataset_id", "path", "etag")]
    if connection.execute(sa.select(files_aside.c.path).where(*same)).first() is not None:
        return
    kept = stored.insert(connection, file, at=now())
    journal.record(
        events.FileSetAside(
            stage_run_id=kept.stage_run_id,
            file=kept.path,
            dataset_id=kept.dataset_id,
            error_code=kept.error_code,
            resolution=str(kept.because),
        ),
        connection=connection,
    )


def failures_since_success(journal: Journal, pipeline_id: str, since: datetime) -> int:
    """How often stages of a pipeline failed since a run of it last succeeded."""
    succeeded = (
        sa.select(sa.func.max(runs.c.ended_at))
        .where(runs.c.pipeline_id == pipeline_id, runs.c.status == RunStatus.SUCCEEDED.value)
        .scalar_subquery()
    )
    asked = sa.select(sa.func.count()).where(
        stage_runs.c.pipeline_id == pipeline_id,
        stage_runs.c.status == RunStatus.FAILED.value,
        stage_runs.c.started_at >= since,
        sa.or_(succeeded.is_(None), stage_runs.c.started_at > succeeded),
    )
    with journal.reading() as connection:
        return int(connection.execute(asked).scalar_one())


def failures_in_request(journal: Journal, request_id: str) -> dict[tuple[str, int], int]:
    """How often each stage failed in a request."""
    # No condition on the status: SQLite would go through all that ever failed, by its index.
    failed = sa.case((stage_runs.c.status == RunStatus.FAILED.value, 1), else_=0)
    asked = (
        sa.select(stage_runs.c.pipeline_id, stage_runs.c.stage_order, sa.func.sum(failed))
        .join(runs, runs.c.run_id == stage_runs.c.run_id)
        .where(runs.c.request_id == request_id)
        .group_by(stage_runs.c.pipeline_id, stage_runs.c.stage_order)
    )
    with journal.reading() as connection:
        counted = connection.execute(asked).all()
    return {(name, order): int(times) for name, order, times in counted if times}
