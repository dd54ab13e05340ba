"""Select what a stage run reads, by its run options: new data, a window, all, a past state."""

from __future__ import annotations

from dataclasses import replace

import sqlalchemy as sa

from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.read import as_of, backfill
from goldsmith.engine.read.inputs import select_inputs
from goldsmith.engine.read.unnamed_rows import refuse_unnamed
from goldsmith.errors import GoldsmithError
from goldsmith.journal.definitions import runs, stage_runs
from goldsmith.journal.tables import RunStatus
from goldsmith.planning.definition import CHANGED, changed_definition_text, reruns
from goldsmith.planning.history import refuse_alone
from goldsmith.planning.input_selection import InputSelection
from goldsmith.planning.ledgers import replaces_all
from goldsmith.planning.lost_tables import lost
from goldsmith.planning.rewritten_files import refuse_unless_found
from goldsmith.planning.run_options import RunOptions


def select_for_attempt(attempt: Attempt, resources: WorkerResources) -> InputSelection:
    """Select the files and snapshots a stage run reads, and why; raises if it must not run."""
    run_options = attempt.run_options
    if run_options.as_of is not None:
        return as_of.choose(attempt, resources, run_options.as_of)
    if run_options.full_refresh:
        selection = select_inputs(attempt, resources, all_because="a full refresh was asked for")
        return replace(selection, starts_over=not _was_emptied(attempt, resources))
    match = resources.increments.ledger(attempt.context)
    problem, check_error = match.problem, None
    if problem is None:
        try:
            problem = lost(attempt.context, match, resources.storage, resources.warehouse)
        except GoldsmithError as error:
            if not error.transient:
                raise
            check_error = error
    if problem is not None and not replaces_all(attempt.context):
        raise problem
    selection = _choose(attempt, resources, problem)
    if check_error is not None and selection.because is not None:
        raise check_error  # the target could not be checked, so nothing is written to it
    if selection.starts_over:
        refuse_alone(attempt.context, ())
    refuse_unnamed(attempt, resources, selection.read_again)
    return selection


def _choose(
    attempt: Attempt, resources: WorkerResources, problem: GoldsmithError | None
) -> InputSelection:
    run_options = attempt.run_options
    if run_options.window is not None:
        return backfill.choose(attempt, resources, run_options.window)
    if problem is not None and run_options.replay is None:
        return select_inputs(
            attempt, resources, all_because=f"all of it is written again: {problem}"
        )
    if reruns(attempt.context) and resources.increments.definition_changed(attempt.context):
        return select_inputs(attempt, resources, all_because=CHANGED)
    selection = select_inputs(attempt, resources)
    refuse_unless_found(attempt.context, selection.rewritten)
    return selection


def _was_emptied(attempt: Attempt, resources: WorkerResources) -> bool:
    """Whether another stage already replaced all rows of the target for the same request."""
    if attempt.context.target is None or len(attempt.context.target.writers) < 2:
        return False
    request = sa.select(runs.c.request_id).where(runs.c.run_id == attempt.run_id).scalar_subquery()
    same_request = sa.select(runs.c.run_id).where(runs.c.request_id == request)
    query = (
        sa.select(stage_runs.c.facts)
        .where(stage_runs.c.target_id == attempt.context.stage.target_id)
        .where(stage_runs.c.status == RunStatus.SUCCEEDED.value)
        .where(stage_runs.c.run_id.in_(same_request))
        # Rows from an earlier attempt of this same stage must be replaced too.
        .where(
            (stage_runs.c.pipeline_id != attempt.context.stage.pipeline_id)
            | (stage_runs.c.stage_order != attempt.context.stage.stage_order)
        )
    )
    with resources.journal.reading() as connection:
        found = connection.execute(query).scalars().all()
    return any(facts and facts.get("starts_over") for facts in found)


def note_on(attempt: Attempt, resources: WorkerResources) -> str | None:
    """A note for the user if the stage's definition changed but old data is not read again."""
    if attempt.run_options != RunOptions() or not resources.increments.definition_changed(
        attempt.context
    ):
        return None
    return changed_definition_text(attempt.context)
