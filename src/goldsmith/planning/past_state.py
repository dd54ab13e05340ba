"""Decide what a stage reads to rebuild its target as it was after an earlier stage run.

This restores a warehouse table in any write mode, because one run over all inputs gives the same
rows as incremental runs over parts of them. Where that does not hold, the restore is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.write_modes import Replaces
from goldsmith.errors import GoldsmithError
from goldsmith.journal.tables import StageRun
from goldsmith.planning.definition import definition_of
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.input_selection import Consumed
from goldsmith.planning.observed import PastState
from goldsmith.planning.resolved_stage import keeps_rows, mode_of
from goldsmith.planning.stage_context import Dataset, StageContext

NOT_WRITTEN = "no stage writes it"


@dataclass(eq=False, kw_only=True)
class CannotRestore(GoldsmithError):
    """A dataset cannot be restored to exactly an earlier state."""

    dataset: str
    reason: str

    def __str__(self) -> str:
        return f"{self.dataset} cannot be restored: {self.reason}."

    @property
    def hint(self) -> str:
        if self.reason == NOT_WRITTEN:
            return "Its files are somebody else's. Restore a dataset that a stage makes of them."
        return "Restore what it reads and run it with --full-refresh, or load a backup."


def consumed_then(context: StageContext, past: PastState) -> Consumed:
    """Everything the stage had read by then, as listed now; raises if some of it is gone."""
    if reason := _why_refused(context, past):
        raise CannotRestore(dataset=str(context.stage.target_id), reason=reason)
    files = {
        dataset.dataset_id: list(past.unchanged.get(dataset.dataset_id, ()))
        for dataset in context.inputs
        if dataset_kind(dataset) == "files"
    }
    return Consumed(files=files, snapshots=past.consumed.snapshots)


def _why_refused(context: StageContext, past: PastState) -> str | None:
    if past.stage_run is None:
        return f"nobody remembers the stage run {past.stage_run_id}"
    if reason := _why_not(context, past.stage_run):
        return reason
    if past.replayed_by is not None:
        replayed = f"{past.replayed_by} replayed rows into it"
        return f"{replayed}, which reading its input again would not give"
    gone = (_why_gone(dataset, past) for dataset in context.inputs)
    return next((reason for reason in gone if reason), None)


def _why_gone(dataset: Dataset, past: PastState) -> str | None:
    """The reason to refuse if files or snapshots read of an input are gone."""
    if dataset_kind(dataset) == "files":
        left = {file.path for file in past.unchanged.get(dataset.dataset_id, ())}
        read = past.consumed.files.get(dataset.dataset_id, ())
        gone = [file.path for file in read if file.path not in left]
        if gone:
            return f"{len(gone)} of the files it read are gone or rewritten, the first {gone[0]}"
        return None
    snapshot = past.consumed.snapshots.get(dataset.dataset_id)
    if snapshot is None or snapshot in past.snapshots.get(dataset.dataset_id, ()):
        return None
    return f"snapshot {snapshot} of {dataset.dataset_id}, which it read, has expired"


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
    if reads_increments and not all(keeps_rows(writer) for writer in first.writers):
        return f"{first.dataset_id} is overwritten, so what was in it before is gone"
    if context.resolved.mode.keeps_versions and any(map(_loses_versions, first.writers)):
        return f"{first.dataset_id} is merged, so the versions it had are not in it any more"
    return None


def _loses_versions(writer: Stage) -> bool:
    """A row the stage writes takes the place of the row of its key."""
    mode = mode_of(writer)
    return mode.replaces(writer.options) is Replaces.SAME_KEYS and not mode.keeps_versions
