"""Observe the inputs and the target of a stage run, and select what it reads and why."""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.quarantine import liveness
from goldsmith.engine.read import as_of, backfill
from goldsmith.engine.read.unnamed_rows import observe_unnamed
from goldsmith.errors import GoldsmithError
from goldsmith.journal.definitions import runs, stage_runs
from goldsmith.journal.tables import RunStatus
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.input_selection import InputSelection
from goldsmith.planning.ledgers import replaces_all
from goldsmith.planning.lost_tables import lost
from goldsmith.planning.observed import Observed, SeenFiles, SeenWindow
from goldsmith.planning.select_inputs import select_inputs
from goldsmith.planning.window import Window


def select_for_attempt(attempt: Attempt, resources: WorkerResources) -> InputSelection:
    """Select what a stage run reads; the caller holds the target's lease, or only compares."""
    return select_inputs(
        attempt.context,
        observe(attempt, resources),
        attempt.run_options,
        files_at_once=attempt.adjust.files_at_once,
    )


def observe(attempt: Attempt, resources: WorkerResources) -> Observed:
    """Observe what the decision depends on, by the options of the run."""
    context, run_options, increments = attempt.context, attempt.run_options, resources.increments
    if run_options.as_of is not None:
        past = as_of.observe_past(
            context, run_options.as_of, resources.journal, increments, resources.storage
        )
        return Observed(past=past)
    if run_options.full_refresh:
        return Observed(
            inputs=increments.observe(context), emptied=_was_emptied(attempt, resources)
        )
    problem, check_error = _problem(attempt, resources)
    if problem is not None and not replaces_all(context):
        return Observed(problem=problem)
    inputs = () if run_options.replay is not None else increments.observe(context)
    window, first = run_options.window, inputs[0] if inputs else None
    reads_again = isinstance(first, SeenFiles) and (window is not None or first.rewritten)
    return Observed(
        inputs=inputs,
        definition_changed=increments.definition_changed(context),
        renumbered_from=increments.ledger(context).carried_from(context),
        problem=problem,
        check_error=check_error,
        window=None if window is None else _observe_window(attempt, resources, window),
        unnamed=observe_unnamed(attempt, resources) if reads_again else (),
    )


def _problem(
    attempt: Attempt, resources: WorkerResources
) -> tuple[GoldsmithError | None, GoldsmithError | None]:
    """Why the target does not hold what was loaded, or why that could not be checked."""
    match = resources.increments.ledger(attempt.context)
    if match.problem is not None:
        return match.problem, None
    try:
        return lost(attempt.context, match, resources.storage, resources.warehouse), None
    except GoldsmithError as error:
        if not error.transient:
            raise
        return None, error


def _observe_window(attempt: Attempt, resources: WorkerResources, window: Window) -> SeenWindow:
    moved_days = frozenset[str]()
    if dataset_kind(attempt.context.inputs[0]) != "files":
        target = str(attempt.context.stage.target_id)
        moved_days = frozenset(liveness.moved_days(resources.journal, target))
    return backfill.observe_window(
        attempt.context,
        window,
        resources.increments,
        resources.storage,
        resources.warehouse,
        moved_days=moved_days,
    )


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
