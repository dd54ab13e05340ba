"""Backfill: read the data of a time window again and replace what the stage wrote from it.

The stage's first input decides what the window selects: files or rows. The write mode decides
whether rows can be written again without duplicates. A backfill that cannot is refused before
anything runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.write_modes import Replaces
from goldsmith.errors import GoldsmithError
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.input_selection import Consumed, InputSelection, RowWindow
from goldsmith.planning.lake import TableChange
from goldsmith.planning.observed import Observed, SeenFiles, SeenTable, SeenWindow
from goldsmith.planning.provenance import keeps_time
from goldsmith.planning.resolved_stage import stage_id
from goldsmith.planning.rewritten_files import why_not_found
from goldsmith.planning.stage_context import Dataset, StageContext
from goldsmith.planning.window import Window, moment
from goldsmith.storage.files import ListedFile


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


def read_window(context: StageContext, window: Window, seen: SeenWindow) -> WindowRead:
    """Decide what a window selects for a stage; raises if it cannot be written again."""
    first, appends = context.inputs[0], context.resolved.appends
    if context.resolved.replaces is Replaces.EVERYTHING:
        if context.resolved.read != "all":
            raise _refused(context, "it replaces its whole table by the part it reads")
        return WindowRead(dataset_id=first.dataset_id, reads="everything", replaces="every row")
    replaces = context.resolved.mode.replaced_rows
    if dataset_kind(first) == "files":
        if appends and (reason := why_not_found(context)):
            raise _refused(context, reason)
        if appends and seen.deduplicated:
            outside = min(seen.deduplicated)
            reason = f"rows of {outside}, outside the window, were compared with those of its files"
            raise _refused(context, reason)
        return WindowRead(
            dataset_id=first.dataset_id,
            reads="files",
            replaces=replaces or "the rows of the same files",
            files=tuple(file for file in seen.listed if window.holds_file(file)),
        )
    column = _column(context, first, seen)
    if appends:
        if others := [
            stage_id(writer)
            for writer in _dataset(context).writers
            if not _is_same(writer, context)
        ]:
            reason = f"{', '.join(others)} writes rows of the same times into its table"
            raise _refused(context, reason)
        if seen.target_columns is not None and column not in seen.target_columns:
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


def _column(context: StageContext, first: Dataset, seen: SeenWindow) -> str:
    """The column of the input that has the time of a row."""
    column = context.stage.watermark_column
    if column is None:
        reason = "The stage has no watermark_column"
        raise WindowUnknown(stage=context.stage_id, dataset=first.dataset_id, reason=reason)
    if seen.input_columns is not None and column not in seen.input_columns:
        reason = f"It has no column '{column}'"
        raise WindowUnknown(stage=context.stage_id, dataset=first.dataset_id, reason=reason)
    return column


def select_window(
    context: StageContext, seen: Observed, window: Window, everything: InputSelection
) -> InputSelection:
    """Narrow a full read to the part of the first input in the window; raises if refused."""
    assert seen.window is not None  # observed for every backfill
    window_read = read_window(context, window, seen.window)
    if window_read.reads == "everything":
        return everything
    read, first = everything.consumed, seen.inputs[0]
    if isinstance(first, SeenFiles):
        files = window_read.files
        appends = context.resolved.appends
        return InputSelection(
            consumed=replace(read, files={**read.files, window_read.dataset_id: files}),
            reasons=everything.reasons if files else (),
            # What is new outside the window is no part of the answer.
            inputs=everything.inputs if files else (),
            notes=() if files else (f"no file of {window_read.dataset_id} is {window}",),
            missing=everything.missing,
            rewritten=tuple(file.path for file in files) if appends else (),
            read_again=tuple(file.path for file in files if file.path in first.known),
            since=everything.since,
            # Other inputs do not count as read: only rows that join the window were used.
            counted_input=Consumed(files={window_read.dataset_id: files}),
        )
    column = str(window_read.column)
    _refuse_moved_rows(context, seen.window, window, column)
    if context.resolved.appends and isinstance(first, SeenTable):
        read = _as_far_as_it_was_read(context, first, read)
    return InputSelection(
        consumed=read,
        reasons=everything.reasons,
        inputs=everything.inputs,
        missing=everything.missing,
        since=everything.since,
        # Nothing counts as read: new data outside the window still has to be read.
        counted_input=Consumed(),
        rows_of=RowWindow(column=column, window=window),
    )


def _refuse_moved_rows(
    context: StageContext, seen: SeenWindow, window: Window, column: str
) -> None:
    """Raise if a replay changed the time of rows in the window: the input has the old time."""
    if found := sorted(day for day in seen.moved_days if window.touches(moment(day))):
        reason = (
            f"rows of {found[0]} were replayed with another {column} than the input has, and would"
            " be lost or there twice"
        )
        raise _refused(context, reason)


def _as_far_as_it_was_read(context: StageContext, first: SeenTable, read: Consumed) -> Consumed:
    """Read the first input only up to the snapshot read before; the next run appends the rest.

    If rows were replaced since, the next run starts over, so the newest snapshot is read.
    """
    name, before = first.dataset.dataset_id, first.read_up_to
    if name not in read.snapshots:
        return read
    match first.change:
        case TableChange.NEVER_READ:
            raise _refused(
                context, "nothing of its input was read yet, and the next run reads it all"
            )
        case TableChange.ADDED | TableChange.LAID_OUT if before in first.history.snapshots:
            return replace(read, snapshots={**read.snapshots, name: str(before)})
    return read


def _is_same(stage: Stage, context: StageContext) -> bool:
    return stage_id(stage) == context.stage_id


def _dataset(context: StageContext) -> Dataset:
    assert context.target is not None  # integrity refuses a stage without one
    return context.target


def _refused(context: StageContext, reason: str) -> NotIdempotent:
    return NotIdempotent(stage=context.stage_id, reason=reason)
