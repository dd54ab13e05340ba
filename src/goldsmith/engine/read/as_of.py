"""Observe what a stage had read up to an earlier stage run, to rebuild its target."""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.engine import ledger
from goldsmith.engine.quarantine import liveness
from goldsmith.journal import row_storage
from goldsmith.journal.definitions import stage_runs
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import RunStatus, StageRun
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.increments import Increments
from goldsmith.planning.input_selection import Consumed
from goldsmith.planning.lake import history
from goldsmith.planning.observed import PastState
from goldsmith.planning.past_state import consumed_then
from goldsmith.planning.stage_context import StageContext
from goldsmith.storage.files import ListedFile
from goldsmith.storage.storage import Storage


def consumed_by(
    context: StageContext,
    stage_run_id: str,
    journal: Journal,
    increments: Increments,
    storage: Storage,
) -> Consumed:
    """Everything a stage had read up to a stage run; raises if some of it is gone."""
    return consumed_then(context, observe_past(context, stage_run_id, journal, increments, storage))


def observe_past(
    context: StageContext,
    stage_run_id: str,
    journal: Journal,
    increments: Increments,
    storage: Storage,
) -> PastState:
    """Observe what the ledger counted by then, and what of it is still there unchanged."""
    with journal.reading() as connection:
        load, later = _load_and_later(connection, context, stage_run_id)
        if load is None:
            return PastState(stage_run_id=stage_run_id)
        consumed = ledger.as_of(connection, increments.ledger(context).ledger_id, later)
    target = str(context.stage.target_id)
    unchanged: dict[str, list[ListedFile]] = {}
    snapshots: dict[str, frozenset[str]] = {}
    for dataset in context.inputs:
        name = dataset.dataset_id
        match dataset_kind(dataset):
            case "files":
                # As listed now: a touched file has another etag.
                read = {f.path: (f.size, f.etag) for f in consumed.files.get(name, ())}
                same = increments.unchanged(increments.files(dataset), read)
                unchanged[name] = [f for f in increments.files(dataset) if f.path in same]
            case "table":
                snapshots[name] = frozenset(history(dataset, storage).snapshots)
    return PastState(
        stage_run_id=stage_run_id,
        stage_run=load,
        consumed=consumed,
        unchanged=unchanged,
        snapshots=snapshots,
        replayed_by=liveness.replayed_until(journal, target, stage_run_id),
    )


def _load_and_later(
    connection: sa.Connection, context: StageContext, stage_run_id: str
) -> tuple[StageRun | None, list[str]]:
    """A stage run, and the ids of later published stage runs of the same target."""
    this_stage_run = stage_runs.c.stage_run_id == stage_run_id
    found = row_storage.select(connection, StageRun, sa.select(stage_runs).where(this_stage_run))
    if not found:
        return None, []
    load = found[0]
    later = sa.select(stage_runs.c.stage_run_id).where(
        stage_runs.c.target_id == context.stage.target_id,
        stage_runs.c.status == RunStatus.SUCCEEDED.value,
        # Tokens rise with every stage run of a target; a clock may run backwards.
        stage_runs.c.token > load.token,
    )
    return load, list(connection.execute(later).scalars())
