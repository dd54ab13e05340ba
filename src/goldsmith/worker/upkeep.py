"""Execute requests that run no stage: maintain datasets, delete old rows, evaluate rules, push.

The service adds them when their schedule is due; a worker executes them in the same loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from goldsmith.catalog.rules import RuleSet
from goldsmith.engine.attempt import WorkerResources
from goldsmith.engine.audit import dataset_audit
from goldsmith.engine.maintenance import maintenance
from goldsmith.errors import GoldsmithError
from goldsmith.journal import requests
from goldsmith.journal.retention import forget_before
from goldsmith.journal.tables import Request
from goldsmith.planning.resolved_stage import stage_id
from goldsmith.runtime import Runtime
from goldsmith.worker.scheduled_push import TryAgain, push_scheduled

#: The option that names the task of such a request.
TASK = "task"
MAINTAIN, FORGET, CHECK, PUSH = "maintain", "forget", "check", "push"


def execute(runtime: Runtime, resources: WorkerResources, request: Request) -> Request:
    """Do the task of a request and record how it ended."""
    journal, worker = runtime.journal, str(resources.owner)
    how: Mapping[str, Any] = {"worker": worker}
    try:
        failed, because = _TASKS[request.options[TASK]](runtime, resources, request)
    except TryAgain as again:
        because = resources.hide(again.because)
        return requests.requeue(
            journal, request.request_id, because, not_before=again.at, worker=worker
        )
    except GoldsmithError as error:
        because = resources.hide(f"{error} [{error.code}]")
        return requests.failed(journal, request.request_id, because=because, **how)
    except BaseException:
        requests.requeue(journal, request.request_id, "it was interrupted", **how)
        raise
    end = requests.failed if failed else requests.done
    return end(journal, request.request_id, because=because, **how)


def _maintain(
    runtime: Runtime, resources: WorkerResources, request: Request
) -> tuple[bool, str | None]:
    """Maintain one dataset, or each that a stage writes; a busy one is left to the next time."""
    catalog_index = runtime.catalog_indexer.catalog_index()
    only = request.options.get("dataset_id")
    problems = []
    names = [only] if only else sorted(catalog_index.rows.writers_of)
    for name in names:
        writers = catalog_index.rows.writers_of.get(name)
        if not writers:
            problems.append(f"no stage writes {name}")
            continue
        context = catalog_index.stages[stage_id(writers[0])]
        try:
            maintenance.maintain(resources, catalog_index, context, request.asked_by or "service")
        except GoldsmithError as error:
            problems.append(resources.hide(f"{name}: {error} [{error.code}]"))
    return bool(problems), "; ".join(problems) or None


def _forget(
    runtime: Runtime, _resources: WorkerResources, request: Request
) -> tuple[bool, str | None]:
    before = datetime.now(UTC) - timedelta(days=float(request.options["keep_days"]))
    found = forget_before(runtime.journal, before, actor=request.asked_by)
    return False, f"deleted {found.events:,} events and {found.runs:,} runs from before {before:%F}"


def _check(
    runtime: Runtime, resources: WorkerResources, request: Request
) -> tuple[bool, str | None]:
    """Evaluate a rule set on a dataset; nothing is written but the verdicts."""
    rows = runtime.catalog.snapshot()
    dataset, rule_set = str(request.options["dataset_id"]), str(request.options["rule_set_id"])
    if rows.table(RuleSet).get((rule_set,)) is None:
        return True, f"there is no rule set '{rule_set}'"
    summary = dataset_audit.audit_dataset(resources, rows, dataset, rule_sets=[rule_set]).summary
    if summary.overall_passed:
        return False, f"{dataset} passed {rule_set}"
    return True, f"{dataset} failed {rule_set}"


def _push(
    runtime: Runtime, _resources: WorkerResources, request: Request
) -> tuple[bool, str | None]:
    return False, push_scheduled(runtime, request)


_TASKS: Mapping[str, Callable[[Runtime, WorkerResources, Request], tuple[bool, str | None]]] = {
    MAINTAIN: _maintain,
    FORGET: _forget,
    CHECK: _check,
    PUSH: _push,
}
