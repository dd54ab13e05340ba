"""Select the inputs a stage had read up to an earlier stage run, to rebuild its target.

This restores a warehouse table in any write mode, because one run over all inputs gives the same
rows as incremental runs over parts of them. Where that does not hold, the restore is refused.
"""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.engine import ledger
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.lake.table_states import CannotRestore
from goldsmith.engine.quarantine import liveness
from goldsmith.journal import row_storage
from goldsmith.journal.definitions import stage_runs
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import RunStatus, StageRun
from goldsmith.planning.definition import definition_of
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.increments import Increments
from goldsmith.planning.input_selection import Consumed, InputSelection
from goldsmith.planning.lake import history
from goldsmith.planning.resolved_stage import write_mode_of
from goldsmith.planning.stage_context import Dataset, StageContext
from goldsmith.storage.files import ListedFile
from goldsmith.storage.storage import Storage


def choose(attempt: Attempt, resources: WorkerResources, stage_run_id: str) -> InputSelection:
    """Select everything the stage had read when that stage run was published."""
    consumed = consumed_by(
        attempt.context, stage_run_id, resources.journal, resources.increments, resources.storage
    )
    return InputSelection(
        consumed=consumed,
        rewritten=(),
        since=dict.fromkeys(consumed.snapshots),
        because=f"restored to what it was after {stage_run_id}",
        starts_over=True,
    )


def consumed_by(
    context: StageContext,
    stage_run_id: str,
    journal: Journal,
    increments: Increments,
    storage: Storage,
) -> Consumed:
    """Everything a stage had read up to a stage run; raises if some of it is gone."""
    with journal.reading() as connection:
        load, later = _load_and_later(connection, context, stage_run_id)
        consumed = ledger.as_of(connection, increments.ledger(context).ledger_id, later)
    if reason := _why_not(context, load) or _why_not_replayed(context, load, journal):
        raise CannotRestore(dataset=str(context.stage.target_id), reason=reason)
    for dataset in context.inputs:
        reason = _why_gone(dataset, consumed, increments, storage)
        if reason is not None:
            raise CannotRestore(dataset=str(context.stage.target_id), reason=reason)
    return Consumed(
        files={
            d.dataset_id: _as_listed(d, consumed, increments)
            for d in context.inputs
            if dataset_kind(d) == "files"
        },
        snapshots=consumed.snapshots,
    )


def _as_listed(dataset: Dataset, consumed: Consumed, increments: Increments) -> list[ListedFile]:
    """The files that were read, as listed now: a touched file has another etag."""
    read = {file.path for file in consumed.files.get(dataset.dataset_id, ())}
    return [file for file in increments.files(dataset) if file.path in read]


def _why_not_replayed(context: StageContext, load: StageRun, journal: Journal) -> str | None:
    """The reason to refuse if replayed rows, which the input lacks, were in the table."""
    replay = liveness.replayed_until(journal, str(context.stage.target_id), load.stage_run_id)
    if replay is None:
        return None
    return f"{replay} replayed rows into it, which reading its input again would not give"


def _why_gone(
    dataset: Dataset, consumed: Consumed, increments: Increments, storage: Storage
) -> str | None:
    """The reason to refuse if files or snapshots read of an input are gone."""
    if dataset_kind(dataset) == "files":
        read = {f.path: (f.size, f.etag) for f in consumed.files.get(dataset.dataset_id, ())}
        unchanged_files = increments.unchanged(increments.files(dataset), read)
        gone = [path for path in read if path not in unchanged_files]
        if gone:
            return f"{len(gone)} of the files it read are gone or rewritten, the first {gone[0]}"
        return None
    snapshot = consumed.snapshots.get(dataset.dataset_id)
    if snapshot is None or snapshot in history(dataset, storage).snapshots:
        return None
    return f"snapshot {snapshot} of {dataset.dataset_id}, which it read, has expired"


def _load_and_later(
    connection: sa.Connection, context: StageContext, stage_run_id: str
) -> tuple[StageRun, list[str]]:
    """A stage run, and the ids of later published stage runs of the same target."""
    this_stage_run = stage_runs.c.stage_run_id == stage_run_id
    found = row_storage.select(connection, StageRun, sa.select(stage_runs).where(this_stage_run))
    if not found:
        reason = f"nobody remembers the stage run {stage_run_id}"
        raise CannotRestore(dataset=str(context.stage.target_id), reason=reason)
    load = found[0]
    later = sa.select(stage_runs.c.stage_run_id).where(
        stage_runs.c.target_id == context.stage.target_id,
        stage_runs.c.status == RunStatus.SUCCEEDED.value,
        # Tokens rise with every stage run of a target; a clock may run backwards.
        stage_runs.c.token > load.token,
    )
    return load, list(connection.execute(later).scalars())


def _why_not(context: StageContext, load: StageRun) -> str | None:
    """The reason to refuse if one run over all inputs would not give the earlier rows."""
    reads_increments = context.resolved.read == "new"
    if len(context.target.writers if context.target else ()) > 1:
        return "several stages write it"
    if load.definition != definition_of(context):
        return "the stage's definition has changed since"
    if load.facts.get("window"):
        return f"{load.stage_run_id} was a backfill, which read only a part"
    if any(dataset_kind(dataset) == "warehouse" for dataset in context.inputs):
        return "it reads a warehouse table, whose earlier states are not kept"
    if context.facts is not None and context.facts.volatile:
        return f"its SQL asks for {', '.join(context.facts.volatile)}"
    if reads_increments and context.facts is not None and context.facts.aggregates:
        return "it groups an input that it reads in parts"
    first = context.inputs[0]
    modes = {write_mode_of(writer) for writer in first.writers}
    if reads_increments and "overwrite" in modes:
        return f"{first.dataset_id} is overwritten, so what was in it before is gone"
    if context.resolved.write_mode == "scd2" and "merge" in modes:
        return f"{first.dataset_id} is merged, so the versions it had are not in it any more"
    return None
