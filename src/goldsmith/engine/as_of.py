"""A stage as of an earlier stage run: all it had read by then, to be written anew.

So a warehouse table goes back, whatever its write mode: incremental runs over any split of
their input give what one run over all of it gives. Where that does not hold it is refused.
"""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.engine import ledger
from goldsmith.engine.inputs import Chosen
from goldsmith.engine.ledger import Consumed
from goldsmith.engine.states import CannotRestore
from goldsmith.engine.work import Tools, Work
from goldsmith.journal import stored
from goldsmith.journal.definitions import stage_runs
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import RunStatus, StageRun
from goldsmith.planning.definition import definition_of
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.increments import Increments
from goldsmith.planning.lake import history
from goldsmith.planning.neighbourhood import Dataset, Neighbourhood
from goldsmith.planning.places import Places
from goldsmith.planning.words import write_mode_of


def choose(work: Work, tools: Tools, stage_run_id: str) -> Chosen:
    """What the stage had read when that stage run was published, all of it."""
    consumed = consumed_by(work.near, stage_run_id, tools.journal, tools.increments, tools.places)
    return Chosen(
        consumed=consumed,
        rewritten=(),
        since=dict.fromkeys(consumed.snapshots),
        because=f"restored to what it was after {stage_run_id}",
        starts_over=True,
    )


def consumed_by(
    near: Neighbourhood,
    stage_run_id: str,
    journal: Journal,
    increments: Increments,
    places: Places,
) -> Consumed:
    """Everything a stage had read by then; raises where it is not there any more."""
    with journal.reading() as connection:
        load, later = _load_and_later(connection, near, stage_run_id)
        consumed = ledger.as_of(connection, near.stage_id, later)
    if reason := _why_not(near, load):
        raise CannotRestore(dataset=str(near.stage.target_id), reason=reason)
    for dataset in near.inputs:
        reason = _why_gone(dataset, consumed, increments, places)
        if reason is not None:
            raise CannotRestore(dataset=str(near.stage.target_id), reason=reason)
    return Consumed(
        files={
            d.dataset_id: consumed.files.get(d.dataset_id, ())
            for d in near.inputs
            if dataset_kind(d) == "files"
        },
        snapshots=consumed.snapshots,
    )


def _why_gone(
    dataset: Dataset, consumed: Consumed, increments: Increments, places: Places
) -> str | None:
    """Why what was read of an input cannot be read again."""
    if dataset_kind(dataset) == "files":
        there = {(f.path, f.size, f.etag) for f in increments.files(dataset)}
        read = consumed.files.get(dataset.dataset_id, ())
        gone = [f.path for f in read if (f.path, f.size, f.etag) not in there]
        if gone:
            return f"{len(gone)} of the files it read are gone or rewritten, the first {gone[0]}"
        return None
    snapshot = consumed.snapshots.get(dataset.dataset_id)
    if snapshot is None or snapshot in history(dataset, places).snapshots:
        return None
    return f"snapshot {snapshot} of {dataset.dataset_id}, which it read, has expired"


def _load_and_later(
    connection: sa.Connection, near: Neighbourhood, stage_run_id: str
) -> tuple[StageRun, list[str]]:
    """A stage run, and the stage's published ones after it."""
    mine = stage_runs.c.stage_run_id == stage_run_id
    found = stored.select(connection, StageRun, sa.select(stage_runs).where(mine))
    if not found:
        reason = f"nobody remembers the stage run {stage_run_id}"
        raise CannotRestore(dataset=str(near.stage.target_id), reason=reason)
    load = found[0]
    later = sa.select(stage_runs.c.stage_run_id).where(
        stage_runs.c.pipeline_id == near.stage.pipeline_id,
        stage_runs.c.stage_order == near.stage.stage_order,
        stage_runs.c.status == RunStatus.SUCCEEDED.value,
        stage_runs.c.started_at > load.started_at,
    )
    return load, list(connection.execute(later).scalars())


def _why_not(near: Neighbourhood, load: StageRun) -> str | None:
    """Why running the stage over all it had read would not give what it was."""
    parted = near.words.read == "new"
    if len(near.target.writers if near.target else ()) > 1:
        return "several stages write it"
    if load.definition != definition_of(near):
        return "the stage's definition has changed since"
    if load.facts.get("window"):
        return f"{load.stage_run_id} was a backfill, which read only a part"
    if any(dataset_kind(dataset) == "warehouse" for dataset in near.inputs):
        return "it reads a warehouse table, whose earlier states are not kept"
    if near.facts is not None and near.facts.volatile:
        return f"its SQL asks for {', '.join(near.facts.volatile)}"
    if parted and near.facts is not None and near.facts.aggregates:
        return "it groups an input that it reads in parts"
    first = near.inputs[0]
    modes = {write_mode_of(writer) for writer in first.writers}
    if parted and "overwrite" in modes:
        return f"{first.dataset_id} is overwritten, so what was in it before is gone"
    if near.words.write_mode == "scd2" and "merge" in modes:
        return f"{first.dataset_id} is merged, so the versions it had are not in it any more"
    return None
