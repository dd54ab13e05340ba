"""The states a dataset has been in, and whether it can go back to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from goldsmith.errors import GoldsmithError
from goldsmith.journal import stored
from goldsmith.journal.definitions import stage_runs
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import RunStatus, StageRun
from goldsmith.planning.lake import history
from goldsmith.planning.neighbourhood import Dataset
from goldsmith.planning.places import Places
from goldsmith.planning.window import BadWindow, moment
from goldsmith.planning.words import is_lake


@dataclass(eq=False, kw_only=True)
class UnknownState(GoldsmithError):
    """A dataset was never in this state, or nobody remembers."""

    dataset: str
    said: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"'{self.said}' is no state of {self.dataset} that it could go back to."

    @property
    def hint(self) -> str:
        # As they come: to sort them would lose which is the newest.
        listed = ", ".join(self.known[:20]) or "none"
        return f"Known, newest first: {listed}. A time means the newest state before it."


@dataclass(eq=False, kw_only=True)
class CannotRestore(GoldsmithError):
    """A dataset cannot be made exactly what it was."""

    dataset: str
    reason: str

    def __str__(self) -> str:
        return f"{self.dataset} cannot be restored: {self.reason}."

    @property
    def hint(self) -> str:
        return "Restore what it reads and run it with --full-refresh, or load a backup."


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """One state of a dataset: a snapshot of the lake, or a load of a warehouse."""

    snapshot: str
    at: datetime | None
    #: Who published it; None for a compaction.
    stage_run_id: str | None
    rows: int | None = None


def states(dataset: Dataset, journal: Journal, places: Places) -> list[State]:
    """The states a dataset could be in, newest first; the first is the one it is in."""
    if is_lake(dataset.target):
        return [
            State(snapshot=name, at=one.at, stage_run_id=one.stage_run_id, rows=one.rows)
            for name, one in history(dataset, places).line()
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
    asked = (
        sa.select(stage_runs)
        .where(stage_runs.c.target_id == dataset.dataset_id)
        .where(stage_runs.c.status == RunStatus.SUCCEEDED.value)
        .order_by(stage_runs.c.started_at.desc(), stage_runs.c.stage_run_id.desc())
    )
    with journal.reading() as connection:
        return stored.select(connection, StageRun, asked)


def find(dataset: Dataset, known: Sequence[State], said: str) -> State:
    """The state somebody means: by its name, or the newest before a time."""
    for state in known:
        if said == state.snapshot or said == state.stage_run_id:
            return state
    try:
        at = moment(said)
    except BadWindow:
        at = None
    before = [state for state in known if at and state.at is not None and state.at <= at]
    if not before:
        listed = tuple(
            f"{state.snapshot} ({state.at:%Y-%m-%d %H:%M:%S})" for state in known if state.at
        )
        raise UnknownState(dataset=dataset.dataset_id, said=said, known=listed)
    return before[0]
