"""Backfill: read the data of a time window again and replace what the stage wrote from it.

The stage's first input decides what the window selects: files or rows. The write mode decides
whether rows can be written again without duplicates. A backfill that cannot is refused before
anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from goldsmith.catalog.pipelines import Stage
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.quarantine import liveness
from goldsmith.engine.read import inputs
from goldsmith.engine.warehouses.warehouse import Warehouse
from goldsmith.errors import GoldsmithError
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.increments import Increments
from goldsmith.planning.input_selection import Consumed, InputSelection, RowWindow
from goldsmith.planning.lake import TableChange, history, load_table
from goldsmith.planning.provenance import keeps_time
from goldsmith.planning.resolved_stage import stage_id
from goldsmith.planning.rewritten_files import why_not_found
from goldsmith.planning.stage_context import Dataset, StageContext
from goldsmith.planning.window import Window, moment
from goldsmith.storage.files import ListedFile
from goldsmith.storage.storage import Storage


@dataclass(eq=False, kw_only=True)
class NotIdempotent(GoldsmithError):
    """A stage cannot write a window again without losing or duplicating rows."""

    stage: str
    reason: str

    def __str__(self) -> str:
        return f"Stage {self.stage} cannot be backfilled: {self.reason}."

    @property
    def hint(self) -> str:
        return "`goldsmith run --full-refresh` reads all of it again."


@dataclass(eq=False, kw_only=True)
class WindowUnknown(GoldsmithError):
    """The input has no time column to tell which of its rows are in the window."""

    stage: str
    dataset: str
    reason: str

    def __str__(self) -> str:
        return f"Stage {self.stage}: which rows of {self.dataset} are of the window? {self.reason}."

    @property
    def hint(self) -> str:
        return "Set the stage's watermark_column to a column of its input that says when."


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowRead:
    """The input a backfill of one stage reads, and the rows of the target it replaces."""

    dataset_id: str
    #: files, rows, or everything.
    reads: str
    #: Description of the target rows that are replaced.
    replaces: str
    files: tuple[ListedFile, ...] = ()
    column: str | None = None


Open = Callable[[str], Warehouse]


def decide(
    context: StageContext, window: Window, increments: Increments, storage: Storage, open_: Open
) -> WindowRead:
    """Decide what a window selects for a stage; raises if it cannot be written again."""
    first, mode = context.inputs[0], context.resolved.write_mode
    partly = mode == "overwrite" and context.stage.options.get("overwrite") == "partitions"
    if mode == "overwrite" and not partly:
        if context.resolved.read != "all":
            raise _refused(context, "it replaces its whole table by the part it reads")
        return WindowRead(dataset_id=first.dataset_id, reads="everything", replaces="every row")
    replaces = {
        "append": "",
        "overwrite": "the partitions these rows fall into",
        "merge": "the rows of the same keys",
        "scd2": "the versions of the same keys at the same times",
    }[mode]
    if dataset_kind(first) == "files":
        if mode == "append" and (reason := why_not_found(context)):
            raise _refused(context, reason)
        files = tuple(f for f in increments.files(first) if window.holds_file(f))
        if mode == "append" and (
            outside := increments.compared_with(context, first, [f.path for f in files])
        ):
            reason = f"rows of {min(outside)}, outside the window, were compared to drop repeats"
            raise _refused(context, reason)
        return WindowRead(
            dataset_id=first.dataset_id,
            reads="files",
            replaces=replaces or "the rows of the same files",
            files=files,
        )
    column = _column(context, first, storage, open_)
    if mode == "append":
        if others := [
            stage_id(writer)
            for writer in _dataset(context).writers
            if not _is_same(writer, context)
        ]:
            reason = f"{', '.join(others)} writes rows of the same times into its table"
            raise _refused(context, reason)
        target_columns = columns(_dataset(context), storage, open_)
        if target_columns is not None and column not in target_columns:
            raise _refused(context, f"its table has no column '{column}' to find the rows by")
        if not keeps_time(context, column):
            raise _refused(
                context, f"its SQL does not pass the input's column '{column}' unchanged"
            )
    return WindowRead(
        dataset_id=first.dataset_id,
        reads="rows",
        replaces=replaces or f"the rows whose {column} is of the window",
        column=column,
    )


def _column(context: StageContext, first: Dataset, storage: Storage, open_: Open) -> str:
    """The column of the input that has the time of a row."""
    column = context.stage.watermark_column
    if column is None:
        reason = "The stage has no watermark_column"
        raise WindowUnknown(stage=context.stage_id, dataset=first.dataset_id, reason=reason)
    input_columns = columns(first, storage, open_)
    if input_columns is not None and column not in input_columns:
        reason = f"It has no column '{column}'"
        raise WindowUnknown(stage=context.stage_id, dataset=first.dataset_id, reason=reason)
    return column


def columns(dataset: Dataset, storage: Storage, open_: Open) -> Mapping[str, Any] | None:
    """A dataset's columns, read without Spark; None if it has no table yet."""
    if dataset_kind(dataset) == "table":
        table = load_table(dataset, storage)
        return None if table is None else {f.name: f.field_type for f in table.schema().fields}
    target = dataset.target
    assert target is not None  # a warehouse table has a row in targets
    return open_(str(target.type)).columns(target.location or target.target_id)


def choose(attempt: Attempt, resources: WorkerResources, window: Window) -> InputSelection:
    """Select the part of the first input in the window; other inputs as in a full read."""
    window_read = decide(
        attempt.context, window, resources.increments, resources.storage, resources.warehouse
    )
    everything = inputs.select_inputs(attempt, resources, all_because=f"a backfill {window}")
    if window_read.reads == "everything":
        return everything
    read = everything.consumed
    if window_read.reads == "files":
        appends = attempt.context.resolved.write_mode == "append"
        files = {**read.files, window_read.dataset_id: window_read.files}
        because = everything.because if window_read.files else None
        known = resources.increments.known_files(attempt.context, attempt.context.inputs[0])
        return InputSelection(
            consumed=Consumed(files=files, snapshots=read.snapshots),
            rewritten=tuple(f.path for f in window_read.files) if appends else (),
            read_again=tuple(f.path for f in window_read.files if f.path in known),
            since=everything.since,
            because=because,
            # Other inputs do not count as read: only rows that join the window were used.
            counted_input=Consumed(files={window_read.dataset_id: window_read.files}),
        )
    _refuse_moved_rows(attempt, resources, window, str(window_read.column))
    if attempt.context.resolved.write_mode == "append":
        read = _as_far_as_it_was_read(attempt, resources, read)
    return InputSelection(
        consumed=read,
        rewritten=(),
        since=everything.since,
        because=everything.because,
        # Nothing counts as read: new data outside the window still has to be read.
        counted_input=Consumed(),
        rows_of=RowWindow(column=str(window_read.column), window=window),
    )


def _refuse_moved_rows(
    attempt: Attempt, resources: WorkerResources, window: Window, column: str
) -> None:
    """Raise if a replay changed the time of rows in the window: the input has the old time."""
    days = liveness.moved_days(resources.journal, str(attempt.context.stage.target_id))
    if found := sorted(day for day in days if window.touches(moment(day))):
        reason = (
            f"rows of {found[0]} were replayed with another {column} than the input has, and would"
            " be lost or there twice"
        )
        raise _refused(attempt.context, reason)


def _as_far_as_it_was_read(
    attempt: Attempt, resources: WorkerResources, read: Consumed
) -> Consumed:
    """Read the first input only up to the snapshot read before; the next run appends the rest.

    If rows were replaced since, the next run starts over, so the newest snapshot is read.
    """
    context, first = attempt.context, attempt.context.inputs[0]
    if dataset_kind(first) != "table" or first.dataset_id not in read.snapshots:
        return read
    before = resources.increments.read_up_to(context, first)
    match history(first, resources.storage).since(before):
        case TableChange.NEVER_READ:
            raise _refused(
                context, "nothing of its input was read yet, and the next run reads it all"
            )
        case TableChange.ADDED | TableChange.LAID_OUT if (
            before in history(first, resources.storage).snapshots
        ):
            return replace(read, snapshots={**read.snapshots, first.dataset_id: str(before)})
    return read


def _is_same(stage: Stage, context: StageContext) -> bool:
    return stage_id(stage) == context.stage_id


def _dataset(context: StageContext) -> Dataset:
    assert context.target is not None  # integrity refuses a stage without one
    return context.target


def _refused(context: StageContext, reason: str) -> NotIdempotent:
    return NotIdempotent(stage=context.stage_id, reason=reason)
