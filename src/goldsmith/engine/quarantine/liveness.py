"""Which rows of a quarantine are live.

**The invariant: a row that was read is in exactly one of: published, quarantined (live), dropped,
discarded; at every moment and after every command.**

Replaying or rereading rows removes nothing from a quarantine. Whether a row is live follows from
what the target holds, so a restore makes rows live again by itself. A row is live if

- the stage run that quarantined it is in force: published, not taken back by a restore, and not
  before a published stage run of the same ledger that read everything again (an overwrite), or one
  of any ledger that replaced all rows of the target (a full refresh);
- no stage run in force of the same ledger has read the row's file again since (it was rewritten,
  or backfilled);
- no stage run in force has replayed the row, read its window again, or merged a newer row of its
  key that replaced it in the input. Such a stage run writes its id into the row first
  (`_replayed_by`), which counts once the stage run is published.

A stage's ledger lists what the stage has read. If several stages write one target, a stage that
reads its input again replaces no row of another stage's ledger.

Stage runs are ordered by the fencing token of their target, which only increases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.write_modes import Replaces
from goldsmith.engine.attempt import MOVED_DAYS, Attempt
from goldsmith.engine.quarantine.files_read_again import (
    FILES,
    NOTHING,
    count_files,
    read_again,
    read_by_several,
)
from goldsmith.engine.quarantine.files_read_again import SUPERSEDES as SUPERSEDES
from goldsmith.journal import row_storage
from goldsmith.journal.definitions import restores, stage_ledgers, stage_runs
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Restore, RunStatus, StageRun
from goldsmith.planning.explain import read_of
from goldsmith.planning.input_selection import InputSelection
from goldsmith.planning.lake import TableHistory
from goldsmith.planning.locations import is_same_table
from goldsmith.planning.resolved_stage import keeps_rows

#: Stage run fact: earlier spellings of the paths of files that the stage run read.
FORMER_PATHS = "former_paths"
EVERYTHING, WINDOW, REPLAYED = "everything", "window", "replayed rows"
#: The columns of a quarantine that decide whether a row is live.
COLUMNS = ("_stage_run_id", "_source_file", "_replayed_by")

Look = Callable[[], TableHistory]


def supersedes(attempt: Attempt, selection: InputSelection) -> str | None:
    """Which earlier quarantined rows a stage run replaces, once it is published."""
    context, replaces = attempt.context, attempt.context.resolved.replaces
    if attempt.run_options.replay is not None:
        return REPLAYED
    if selection.starts_over or replaces is Replaces.EVERYTHING:
        return EVERYTHING
    if selection.rows_of is not None:
        return WINDOW
    if attempt.run_options.window is not None:
        return FILES
    if replaces is Replaces.NOTHING:
        if selection.rewritten:
            return FILES
        return NOTHING if context.inputs and read_of(context, 0) == "all" else None
    return EVERYTHING if _reads_everything(attempt, selection) else None


def _reads_everything(attempt: Attempt, selection: InputSelection) -> bool:
    """Whether all that earlier stage runs read of the first input is read again."""
    if not attempt.context.inputs:
        return False
    if read_of(attempt.context, 0) == "all":
        return True
    first = attempt.context.inputs[0]
    # An overwritten input no longer holds its earlier rows.
    keeps = all(keeps_rows(writer) for writer in first.writers)
    return keeps and selection.since.get(first.dataset_id, "") is None


def replayed_until(journal: Journal, dataset: str, stage_run_id: str) -> str | None:
    """The newest replay that a dataset held after a stage run; None if there was none."""
    now = liveness(journal, dataset)
    at = now.order.get(stage_run_id, -1)
    with journal.reading() as connection:
        known = {
            stage_run.stage_run_id: stage_run
            for name in (dataset, *_other_ids(connection, dataset))
            for stage_run in _stage_runs(connection, name)
        }
    in_force = [known[name] for name, index in now.order.items() if index <= at]
    for stage_run in reversed(in_force):
        if stage_run.facts.get(SUPERSEDES) == REPLAYED:
            return stage_run.stage_run_id
        if _starts_over(stage_run):
            return None
    return None


def moved_days(journal: Journal, dataset: str) -> set[str]:
    """Days of rows in force whose time a replay changed: the old and the new days."""
    recorded = _Recorded.of(journal, dataset, None)
    now = recorded.liveness()
    return {
        day
        for stage_run in recorded.runs
        if now.order[stage_run.stage_run_id] >= now.started_over[ledger_of(stage_run)]
        for day in stage_run.facts.get(MOVED_DAYS, ())
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Liveness:
    """Which rows of one dataset's quarantine are live."""

    #: Stage runs in force (published, not undone by a restore), with their index.
    order: Mapping[str, int] = field(default_factory=dict)
    #: The ledger of each of them.
    ledgers: Mapping[str, str] = field(default_factory=dict)
    #: By ledger: the index of the newest of them that read everything again.
    started_over: Mapping[str, int] = field(default_factory=dict)
    #: By ledger and file: the index of the newest of them that read the file again.
    read_again: Mapping[tuple[str, str], int] = field(default_factory=dict)
    #: Stage runs all of whose files were read again: for rows without a file name.
    all_read_again: frozenset[str] = frozenset()

    def is_live(self, row: Mapping[str, Any]) -> bool:
        """Whether the row waits to be replayed or discarded."""
        stage_run_id, file = row["_stage_run_id"], row["_source_file"]
        at = self.order.get(stage_run_id)
        if at is None or row["_replayed_by"] in self.order:
            return False
        ledger = self.ledgers[stage_run_id]
        if at < self.started_over[ledger]:
            return False
        if file is None:
            return stage_run_id not in self.all_read_again
        return at >= self.read_again.get((ledger, file), -1)

    def is_unpublished(self, row: Mapping[str, Any]) -> bool:
        """Whether the row's stage run is not in force, so that its input is read again."""
        return row["_stage_run_id"] not in self.order


def liveness(journal: Journal, dataset: str, look: Look | None = None) -> Liveness:
    """Which quarantined rows of a dataset are live.

    `look` reads the snapshots of its lake table. They decide if a process died between the publish
    and its record. The holder of the target's lease has settled such cases and needs no `look`.
    """
    return _Recorded.of(journal, dataset, look).liveness()


def liveness_of(
    journal: Journal, dataset: str, rows: Iterable[Mapping[str, Any]], look: Look | None = None
) -> Liveness:
    """The liveness of the dataset to which these quarantined rows belong."""
    return liveness(journal, _recorded_as(journal, dataset, rows), look)


def restorable(
    journal: Journal,
    dataset: str,
    rows: Iterable[Mapping[str, Any]],
    look: Look | None,
    since: datetime,
) -> list[Liveness]:
    """The liveness now, after a restore to each snapshot of the table, and at the time `since`.

    The caller holds the target's lease.
    """
    recorded = _Recorded.of(journal, _recorded_as(journal, dataset, rows), look)
    states = list(recorded.line.states().values())
    later = [
        stage_run.stage_run_id
        for stage_run in recorded.runs
        if stage_run.ended_at is None or stage_run.ended_at >= since
    ]
    return [
        recorded.liveness(later),
        *(recorded.liveness(states[:index]) for index in range(max(len(states), 1))),
    ]


def ended(journal: Journal, dataset: str, rows: Iterable[Mapping[str, Any]]) -> set[str]:
    """The ids of ended stage runs of the dataset of these rows, from the journal."""
    name = _recorded_as(journal, dataset, rows)
    query = sa.select(stage_runs.c.stage_run_id).where(
        stage_runs.c.target_id == name, stage_runs.c.ended_at.is_not(None)
    )
    with journal.reading() as connection:
        return set(connection.execute(query).scalars())


def _recorded_as(journal: Journal, dataset: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """The dataset's id in the journal.

    A killed `datasets move` may have renamed the quarantine and not yet the stage runs.
    """
    stage_run_ids = sorted({row["_stage_run_id"] for row in rows}, reverse=True)
    with journal.reading() as connection:
        for start in range(0, len(stage_run_ids), 500):
            some = stage_runs.c.stage_run_id.in_(stage_run_ids[start : start + 500])
            query = sa.select(stage_runs.c.target_id).distinct().where(some)
            names = set(connection.execute(query).scalars())
            if names:
                return dataset if dataset in names else str(min(names))
    return dataset


@dataclass(frozen=True, kw_only=True, slots=True)
class _Recorded:
    """A dataset's stage runs, from the journal and the table."""

    #: Stage runs in force, in their order.
    runs: list[StageRun]
    #: The files that several of them consumed, one entry per stage run.
    repeated: list[Any]
    #: How many files each of them consumed.
    files: Mapping[str, int]
    line: _Line

    @classmethod
    def of(cls, journal: Journal, dataset: str, look: Look | None) -> _Recorded:
        with journal.reading() as connection:
            known = _in_order(
                [*_stage_runs(connection, dataset), *_emptied_by(connection, dataset)]
            )
            back = row_storage.select(
                connection, Restore, sa.select(restores).where(restores.c.dataset_id == dataset)
            )
            repeated = list(connection.execute(read_by_several(dataset)).all())
            files: dict[str, int] = {}
            if repeated:
                counted = connection.execute(count_files(dataset))
                files = {str(name): int(number) for name, number in counted}
        line = _Line(look)
        gone = {
            name for restore in back if _went_back(restore, line) for name in restore.taken_back
        }
        runs = [
            stage_run
            for stage_run in known
            if stage_run.stage_run_id not in gone
            and (
                stage_run.status == RunStatus.SUCCEEDED
                or line.has_stage_run(stage_run.stage_run_id)
            )
        ]
        return cls(runs=runs, repeated=repeated, files=files, line=line)

    def liveness(self, taken_back: Sequence[str | None] = ()) -> Liveness:
        """The liveness, as if a restore had undone these stage runs too."""
        runs = {run.stage_run_id: run for run in self.runs if run.stage_run_id not in taken_back}
        order = {name: index for index, name in enumerate(runs)}
        ledgers = {name: ledger_of(run) for name, run in runs.items()}
        started_over = dict.fromkeys(ledgers.values(), -1)
        for name, run in runs.items():
            if run.facts.get("starts_over"):
                started_over = dict.fromkeys(started_over, order[name])
            elif _starts_over(run):
                started_over[ledgers[name]] = order[name]
        again = read_again(self.repeated, runs, order)
        for name, run in runs.items():
            for path in run.facts.get(FORMER_PATHS, ()):
                again.by_file[ledgers[name], path] = order[name]
        return Liveness(
            order=order,
            ledgers=ledgers,
            started_over=started_over,
            read_again=again.by_file,
            all_read_again=frozenset(
                name
                for name, later in again.later.items()
                if len(later) == self.files[name] and any(later)
            ),
        )


class _Line:
    """The snapshots of a table's main branch, read on first use."""

    def __init__(self, look: Look | None) -> None:
        self._look = look
        self._found: dict[str, str | None] | None = None

    def states(self) -> Mapping[str, str | None]:
        if self._found is None:
            snapshots = () if self._look is None else self._look().line()
            self._found = {name: snapshot.stage_run_id for name, snapshot in snapshots}
        return self._found

    def has_stage_run(self, stage_run_id: str) -> bool:
        return self._look is not None and stage_run_id in self.states().values()

    def lacks(self, snapshot: str | None) -> bool:
        return self._look is not None and snapshot not in self.states()


def _stage_runs(connection: sa.Connection, dataset: str) -> list[StageRun]:
    """Stage runs of a dataset that succeeded or are running."""
    query = sa.select(stage_runs).where(
        stage_runs.c.target_id == dataset,
        stage_runs.c.status.in_([RunStatus.SUCCEEDED.value, RunStatus.RUNNING.value]),
    )
    return list(row_storage.select(connection, StageRun, query))


def _in_order(found: list[StageRun]) -> list[StageRun]:
    """Sort stage runs by the order in which they held the target."""
    return sorted(found, key=lambda run: (run.token or 0, str(run.started_at), run.stage_run_id))


def _emptied_by(connection: sa.Connection, dataset: str) -> list[StageRun]:
    """Stage runs under another id of the dataset's table that replaced all of its rows."""
    return [
        run
        for name in _other_ids(connection, dataset)
        for run in _stage_runs(connection, name)
        if run.facts.get("starts_over")
    ]


def _other_ids(connection: sa.Connection, dataset: str) -> set[str]:
    """Other ids of a dataset's table: two warehouse targets may have one location."""
    ledger = stage_ledgers.c
    mine = sa.select(ledger.location).where(ledger.target_id == dataset)
    found = connection.execute(
        sa.select(ledger.target_id, ledger.table_name).where(ledger.location.in_(mine))
    ).all()
    tables = [table for name, table in found if name == dataset and table]
    return {
        name
        for name, other in found
        if name != dataset and other and any(is_same_table(other, table) for table in tables)
    }


def _went_back(restore: Restore, line: _Line) -> bool:
    if restore.ended_at is not None:
        return restore.done
    return line.lacks(restore.from_snapshot)


def _starts_over(stage_run: StageRun) -> bool:
    facts = stage_run.facts
    return bool(facts.get("starts_over")) or facts.get(SUPERSEDES) == EVERYTHING


def ledger_of(stage_run: StageRun) -> str:
    """The id of the ledger that lists what a stage run read."""
    stage = f"{stage_run.pipeline_id}-{stage_run.stage_order}"
    return str((stage_run.facts.get("ledger") or {}).get("ledger_id", stage))
