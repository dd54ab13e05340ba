"""The states of a dataset that `restore` can go back to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from goldsmith.errors import GoldsmithError
from goldsmith.journal import row_storage
from goldsmith.journal.definitions import stage_runs
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import RunStatus, StageRun
from goldsmith.planning.lake import history
from goldsmith.planning.resolved_stage import is_lake
from goldsmith.planning.stage_context import Dataset
from goldsmith.planning.window import BadWindow, moment
from goldsmith.storage.storage import Storage


@dataclass(eq=False, kw_only=True)
class UnknownState(GoldsmithError):
    """A dataset was never in the given state, or the state has expired."""

    dataset: str
    value: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"'{self.value}' is no state of {self.dataset} that it could go back to."

    @property
    def hint(self) -> str:
        # Not sorted: they come newest first.
        listed = ", ".join(self.known[:20]) or "none"
        return f"Known, newest first: {listed}. A time means the newest state before it."


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """One state of a dataset: a lake snapshot or a warehouse load."""

    snapshot: str
    at: datetime | None
    #: The stage run that published it; None for a compaction.
    stage_run_id: str | None
    rows: int | None = None


def states(dataset: Dataset, journal: Journal, storage: Storage) -> list[State]:
    """The states of a dataset, newest first; the first is the current one."""
    if is_lake(dataset.target):
        return [
            State(
                snapshot=name,
                at=snapshot.at,
                stage_run_id=snapshot.stage_run_id,
                rows=snapshot.rows,
            )
            for name, snapshot in history(dataset, storage).line()
        ]
    return [
        State(
            snapshot=load.stage_run_id,
            at=load.ended_at,
            stage_run_id=load.stage_run_id,
            rows=load.rows_written,
        )
        for load in loads(dataset, journal)
    ]


def loads(dataset: Dataset, journal: Journal) -> list[StageRun]:
    """The published stage runs of a dataset, newest first."""
    query = (
        sa.select(stage_runs)
        .where(stage_runs.c.target_id == dataset.dataset_id)
        .where(stage_runs.c.status == RunStatus.SUCCEEDED.value)
        .order_by(stage_runs.c.token.desc().nulls_last(), stage_runs.c.stage_run_id.desc())
    )
    with journal.reading() as connection:
        return row_storage.select(connection, StageRun, query)


def find(dataset: Dataset, known: Sequence[State], requested: str) -> State:
    """The requested state: by snapshot or stage run id, or the newest up to a time."""
    for state in known:
        if requested == state.snapshot or requested == state.stage_run_id:
            return state
    try:
        at = moment(requested)
    except BadWindow:
        at = None
    before = [state for state in known if at and state.at is not None and state.at <= at]
    if not before:
        listed = tuple(
            f"{state.snapshot} ({state.at:%Y-%m-%d %H:%M:%S})" for state in known if state.at
        )
        raise UnknownState(dataset=dataset.dataset_id, value=requested, known=listed)
    return before[0]
