"""Lease the target of a stage, and wait for the run that holds it."""

from __future__ import annotations

from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.publish.leases import HeldLease, TargetBusy
from goldsmith.engine.read.observe_inputs import select_for_attempt
from goldsmith.engine.stage_target import resource_of
from goldsmith.errors import GoldsmithError
from goldsmith.journal import leases
from goldsmith.planning.input_selection import InputSelection
from goldsmith.planning.plan import PlannedStage

#: Seconds between two attempts to lease a target that another run holds.
_ASK_AGAIN_SECONDS = 0.5


def lease_target(
    stage: PlannedStage, attempt: Attempt, resources: WorkerResources, *, waits: bool
) -> tuple[HeldLease, InputSelection | None]:
    """Lease the target, after the run that holds it now; raises if the stage must not wait.

    Also returns what the plan selected. If the plan did not look at the inputs, and the stage has
    to wait, the selection before the wait counts as the plan's.
    """
    resource = resource_of(attempt.context, resources)
    planned, waited = stage.selection, False
    while True:
        lease = leases.acquire(
            resources.journal,
            resource,
            resources.owner,
            run_id=attempt.run_id,
            stage_run_id=attempt.stage_run_id,
        )
        if lease is not None:
            return HeldLease(resources.journal, lease), planned
        if not waits:
            holder = leases.holder(resources.journal, resource)
            raise TargetBusy(resource=resource, holder=str(holder and holder.owner))
        if not waited:
            planned, waited = planned or _select(attempt, resources), True
        attempt.cancel.wait(_ASK_AGAIN_SECONDS)
        attempt.cancel.check()


def _select(attempt: Attempt, resources: WorkerResources) -> InputSelection | None:
    """What the stage would read now; None if that cannot be decided before it is leased."""
    try:
        selection = select_for_attempt(attempt, resources)
    except GoldsmithError:
        return None  # the stage run meets the same error, and records it
    finally:
        resources.increments.look_anew_at(attempt.context)
    return None if selection.refused is not None else selection
