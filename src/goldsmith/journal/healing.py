"""Record which remedies were used, whether they helped, and which files are left out."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from goldsmith.journal import healing_events as events
from goldsmith.journal import row_storage
from goldsmith.journal.clock import moment, now
from goldsmith.journal.definitions import files_aside, healing_uses, requests, runs, stage_runs
from goldsmith.journal.healing_tables import FileAside, HealingUse, RemedyOutcome
from goldsmith.journal.journal import Journal
from goldsmith.journal.status_query import SPECIAL_RUNS
from goldsmith.journal.tables import RunStatus, StageRun

#: The value of `did` for a remedy that raised an error.
FAILED_ITSELF = "failed"


def use(journal: Journal, used: HealingUse, *, connection: sa.Connection) -> HealingUse:
    """Record that a remedy is used, or that it failed itself, with the event."""
    kept = row_storage.insert(connection, used, at=moment(used.at))
    about: dict[str, Any] = {
        "pipeline_id": kept.pipeline_id,
        "stage_order": kept.stage_order,
        "request_id": kept.request_id,
        "run_id": kept.run_id,
        "stage_run_id": kept.stage_run_id,
        "remedy": str(kept.remedy),
        "error_code": str(kept.error_code),
    }
    journal.record(
        events.RemedyFailed(**about, because=str(kept.because))
        if kept.did == FAILED_ITSELF
        else events.RemedyChosen(**about, resolution=str(kept.because)),
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
    query = sa.select(healing_uses).order_by(healing_uses.c.at.desc(), healing_uses.c.use_id)
    if since is not None:
        query = query.where(healing_uses.c.at >= since)
    for column, wanted in (
        (healing_uses.c.error_code, error_code),
        (healing_uses.c.pipeline_id, pipeline_id),
    ):
        if wanted is not None:
            query = query.where(column == wanted)
    with journal.reading(connection) as reading:
        return row_storage.select(reading, HealingUse, query.limit(most))


#: The sentence for each kind of remedy event.
_SENTENCES = {
    "RemedyChosen": "{stage} failed with {code}: the remedy {remedy} was chosen: {because}",
    "RemedyFailed": "{stage} failed with {code}: the remedy {remedy} failed itself: {because}",
    "StageHealed": "{stage} was healed of {code} by the remedy {remedy}",
    "RemedyDidNotHelp": "{stage} failed with {code} again: the remedy {remedy} did not help",
}


def remedy_sentences(journal: Journal, run_id: str) -> list[str]:
    """Sentences about the remedies used in a run and whether they helped, in order."""
    return [
        _SENTENCES[str(event.kind)].format(
            stage=f"{event.pipeline_id}-{event.stage_order}",
            code=event.error_code,
            remedy=event.facts.get("remedy"),
            because=event.resolution or event.facts.get("because"),
        )
        for event in journal.read(run_id=run_id, kinds=tuple(_SENTENCES))
    ]


def judge(
    journal: Journal, request_id: str, ended: Collection[StageRun], *, connection: sa.Connection
) -> list[HealingUse]:
    """Record whether the remedies used in a request got their stages past the errors."""
    query = sa.select(healing_uses).where(
        healing_uses.c.request_id == request_id,
        healing_uses.c.outcome == RemedyOutcome.PENDING.value,
        healing_uses.c.did != "hold",
    )
    judged = []
    by_stage = {(ended_run.pipeline_id, ended_run.stage_order): ended_run for ended_run in ended}
    for pending in row_storage.select(connection, HealingUse, query):
        stage_run = by_stage.get((pending.pipeline_id, pending.stage_order))
        helped = None if stage_run is None else _helped(pending, stage_run)
        if stage_run is None or helped is None or stage_run.stage_run_id == pending.stage_run_id:
            continue
        outcome = RemedyOutcome.HELPED if helped else RemedyOutcome.FAILED
        mine = {"use_id": pending.use_id}
        updated = row_storage.update(
            connection, HealingUse, mine, outcome=outcome.value, judged_at=now()
        )
        assert updated is not None
        judged.append(updated)
        journal.record(_outcome_event(updated, stage_run), connection=connection)
    return judged


def _helped(use: HealingUse, stage_run: StageRun) -> bool | None:
    """Whether the attempt got past the error; None if it did not get that far."""
    if stage_run.status in (RunStatus.SUCCEEDED, RunStatus.SKIPPED):
        return True
    if stage_run.status == RunStatus.FAILED:
        return stage_run.error_code != use.error_code
    return None


def _outcome_event(
    use: HealingUse, stage_run: StageRun
) -> events.StageHealed | events.RemedyDidNotHelp:
    about = {
        "pipeline_id": use.pipeline_id,
        "stage_order": use.stage_order,
        "request_id": use.request_id,
        "run_id": stage_run.run_id,
        "stage_run_id": stage_run.stage_run_id,
        "remedy": str(use.remedy),
        "error_code": str(use.error_code),
    }
    if use.outcome == RemedyOutcome.HELPED:
        return events.StageHealed(**about, resolution=str(use.because))  # type: ignore[arg-type]
    return events.RemedyDidNotHelp(**about)  # type: ignore[arg-type]


def set_aside(journal: Journal, file: FileAside, *, connection: sa.Connection) -> None:
    """Leave a file out until it is rewritten; a second time is not recorded."""
    same = [files_aside.c[name] == getattr(file, name) for name in ("dataset_id", "path", "etag")]
    if connection.execute(sa.select(files_aside.c.path).where(*same)).first() is not None:
        return
    kept = row_storage.insert(connection, file, at=now())
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
    """How often stages failed since the pipeline's last success, without special runs."""
    succeeded = (
        sa.select(sa.func.max(runs.c.ended_at))
        .where(
            runs.c.pipeline_id == pipeline_id,
            runs.c.status == RunStatus.SUCCEEDED.value,
            sa.not_(sa.exists().where(_is_special())),
        )
        .scalar_subquery()
    )
    is_special = sa.exists().where(runs.c.run_id == stage_runs.c.run_id, _is_special())
    query = sa.select(sa.func.count()).where(
        stage_runs.c.pipeline_id == pipeline_id,
        stage_runs.c.status == RunStatus.FAILED.value,
        stage_runs.c.started_at >= since,
        sa.not_(is_special),
        sa.or_(succeeded.is_(None), stage_runs.c.started_at > succeeded),
    )
    with journal.reading() as connection:
        return int(connection.execute(query).scalar_one())


def _is_special() -> sa.ColumnElement[bool]:
    """The run is a replay or a trial run, which do not count for their pipeline."""
    options = sa.cast(requests.c.options, sa.Text)
    return sa.and_(
        requests.c.request_id == runs.c.request_id,
        sa.or_(*(options.like(pattern) for pattern in SPECIAL_RUNS.values())),
    )


def failures_in_request(journal: Journal, request_id: str) -> dict[tuple[str, int], int]:
    """How often each stage failed in a request."""
    # No WHERE on the status: SQLite would use its index and scan every failure there ever was.
    failed = sa.case((stage_runs.c.status == RunStatus.FAILED.value, 1), else_=0)
    query = (
        sa.select(stage_runs.c.pipeline_id, stage_runs.c.stage_order, sa.func.sum(failed))
        .join(runs, runs.c.run_id == stage_runs.c.run_id)
        .where(runs.c.request_id == request_id)
        .group_by(stage_runs.c.pipeline_id, stage_runs.c.stage_order)
    )
    with journal.reading() as connection:
        counted = connection.execute(query).all()
    return {(name, order): int(times) for name, order, times in counted if times}
