"""Quarantined rows of a project: show, discard, and find out whether a replay has anything."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from goldsmith.engine.attempt import WorkerResources
from goldsmith.engine.maintenance import maintenance
from goldsmith.engine.personal_data import personal
from goldsmith.engine.quarantine import quarantine_store
from goldsmith.engine.quarantine.quarantine_store import Histories
from goldsmith.engine.read.replay import NothingToReplay
from goldsmith.errors import BadRequest
from goldsmith.journal import stage_runs
from goldsmith.planning import dataset_info
from goldsmith.planning.lake import history
from goldsmith.planning.resolved_stage import is_lake, stage_id
from goldsmith.planning.stage_context import dataset_of
from goldsmith.runtime import Runtime
from goldsmith.worker.resources import worker_resources


def histories(runtime: Runtime) -> Histories:
    """Gives the snapshots of lake tables, to judge rows of stage runs whose process died."""
    rows = runtime.catalog.snapshot()

    def of(dataset: str) -> Any:
        found = dataset_of(dataset, rows)
        return partial(history, found, runtime.storage) if is_lake(found.target) else None

    return of


def quarantined_rows(
    runtime: Runtime, dataset: str, *, run_id: str | None, most: int, unpublished: bool
) -> list[dict[str, Any]]:
    """Quarantined rows of a dataset with the checks they failed; personal data is masked."""
    target = dataset_of(dataset, runtime.catalog.snapshot()).target
    return quarantine_store.rows_of(
        runtime.storage,
        runtime.journal,
        dataset,
        run_id=run_id,
        most=most,
        unpublished=unpublished,
        hide=personal(target),
        histories=histories(runtime),
    )


def discard_rows(
    runtime: Runtime,
    dataset: str,
    *,
    run_id: str | None,
    ids: Sequence[str],
    unpublished: bool,
    actor: str,
    because: str | None,
) -> int:
    """Remove quarantined rows for good, while no replay runs; returns their number."""
    with worker_resources(runtime) as resources, _settled(runtime, resources, dataset):
        return quarantine_store.discard(
            runtime.storage,
            runtime.journal,
            dataset,
            run_id=run_id,
            ids=tuple(ids),
            unpublished=unpublished,
            actor=actor,
            because=because,
        )


def nothing_to_replay(runtime: Runtime, dataset: str, run_id: str | None) -> str | None:
    """Why there is nothing to replay, if that is certain; then no run is requested."""
    if any(row.target_id == dataset for row in stage_runs.running(runtime.journal)):
        return None
    quarantined = quarantine_store.quarantined_rows(
        runtime.storage, runtime.journal, [dataset], histories(runtime), are_declared=True
    )
    runs = {run for row in quarantined if row.rows for run in row.runs}
    if runs and (run_id is None or run_id in runs):
        return None
    return str(NothingToReplay(dataset=dataset, others=sum(row.rows for row in quarantined)))


def only_writer(runtime: Runtime, dataset: str) -> str:
    """The only stage that writes the dataset; refused if there are several or none."""
    found = dataset_info.find(runtime.catalog.snapshot(), dataset)
    writers = [stage_id(stage) for stage in found.writers]
    if len(writers) != 1:
        listed = ", ".join(writers) or "none"
        raise BadRequest(
            sentence=f"Say which stage with --stage: {listed} write {dataset}.",
            advice="`goldsmith datasets list` shows which stages write a dataset.",
        )
    return writers[0]


def _settled(
    runtime: Runtime, resources: WorkerResources, dataset: str
) -> AbstractContextManager[None]:
    """Hold the dataset's lease, so that no replay runs, and settle dead stage runs."""
    catalog_index = runtime.catalog_indexer.catalog_index()
    mine = [
        context for context in catalog_index.stages.values() if context.stage.target_id == dataset
    ]
    return maintenance.settled(resources, mine[0]) if mine else nullcontext()
