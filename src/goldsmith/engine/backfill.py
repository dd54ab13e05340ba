"""A backfill: what is of a window of time is read again and written in the place of what was.

What a window means depends on what the stage reads, and whether it can be written again without
being there twice on how it writes. Whatever cannot be is refused before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from goldsmith.engine import inputs
from goldsmith.engine.inputs import Chosen, RowsOf
from goldsmith.engine.ledger import Consumed
from goldsmith.engine.shaping import keeps_source_file
from goldsmith.engine.warehouses.warehouse import Warehouse
from goldsmith.engine.work import Tools, Work
from goldsmith.errors import GoldsmithError
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.files import FileSeen
from goldsmith.planning.increments import Increments
from goldsmith.planning.lake import load_table
from goldsmith.planning.neighbourhood import Dataset, Neighbourhood
from goldsmith.planning.places import Places
from goldsmith.planning.window import Window
from goldsmith.planning.words import is_lake


@dataclass(eq=False, kw_only=True)
class NotIdempotent(GoldsmithError):
    """A window of a stage cannot be written again without rows being lost or there twice."""

    stage: str
    reason: str

    def __str__(self) -> str:
        return f"Stage {self.stage} cannot be backfilled: {self.reason}."

    @property
    def hint(self) -> str:
        return "`goldsmith run --full-refresh` reads all of it again."


@dataclass(eq=False, kw_only=True)
class WindowUnknown(GoldsmithError):
    """Nobody can tell which rows of an input are of a window."""

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
    """What a backfill of one stage reads, and what of its target it replaces."""

    dataset_id: str
    #: files, rows, or everything.
    reads: str
    #: In words: which rows of the target make way.
    replaces: str
    files: tuple[FileSeen, ...] = ()
    column: str | None = None


Open = Callable[[str], Warehouse]


def decide(
    near: Neighbourhood, window: Window, increments: Increments, places: Places, open_: Open
) -> WindowRead:
    """What a window means for a stage; raises where it cannot be written again."""
    first, mode = near.inputs[0], near.words.write_mode
    partly = mode == "overwrite" and near.stage.options.get("overwrite") == "partitions"
    if mode == "overwrite" and not partly:
        if near.words.read != "all":
            raise _refused(near, "it replaces its whole table by the part it reads")
        return WindowRead(dataset_id=first.dataset_id, reads="everything", replaces="every row")
    replaces = {
        "append": "",
        "overwrite": "the partitions these rows fall into",
        "merge": "the rows of the same keys",
        "scd2": "the versions of the same keys at the same times",
    }[mode]
    if dataset_kind(first) == "files":
        if mode == "append" and not (is_lake(_target(near)) and keeps_source_file(near)):
            raise _refused(near, "its rows do not say which file they came from")
        return WindowRead(
            dataset_id=first.dataset_id,
            reads="files",
            replaces=replaces or "the rows of the same files",
            files=tuple(f for f in increments.files(first) if window.holds_file(f)),
        )
    column = _column(near, first, places, open_)
    if mode == "append":
        there = columns(_dataset(near), places, open_)
        if there is not None and column not in there:
            raise _refused(near, f"its table has no column '{column}' to find the rows by")
    return WindowRead(
        dataset_id=first.dataset_id,
        reads="rows",
        replaces=replaces or f"the rows whose {column} is of the window",
        column=column,
    )


def _column(near: Neighbourhood, first: Dataset, places: Places, open_: Open) -> str:
    """The column of the input that says which window a row is of."""
    column = near.stage.watermark_column
    if column is None:
        reason = "The stage has no watermark_column"
        raise WindowUnknown(stage=near.stage_id, dataset=first.dataset_id, reason=reason)
    there = columns(first, places, open_)
    if there is not None and column not in there:
        reason = f"It has no column '{column}'"
        raise WindowUnknown(stage=near.stage_id, dataset=first.dataset_id, reason=reason)
    return column


def columns(dataset: Dataset, places: Places, open_: Open) -> Mapping[str, Any] | None:
    """A dataset's columns without Spark; None where it has no table yet."""
    if dataset_kind(dataset) == "table":
        table = load_table(dataset, places)
        return None if table is None else {f.name: f.field_type for f in table.schema().fields}
    target = dataset.target
    assert target is not None  # a warehouse table has a row in targets
    return open_(str(target.type)).columns(target.location or target.target_id)


def choose(work: Work, tools: Tools, window: Window) -> Chosen:
    """What of the inputs is of the window; look-ups are read whole, as ever."""
    made = decide(work.near, window, tools.increments, tools.places, tools.warehouse)
    everything = inputs.choose(work, tools, all_because=f"a backfill {window}")
    if made.reads == "everything":
        return everything
    read = everything.consumed
    if made.reads == "files":
        files = {**read.files, made.dataset_id: made.files}
        because = everything.because if made.files else None
        return Chosen(
            consumed=Consumed(files=files, snapshots=read.snapshots),
            rewritten=tuple(file.path for file in made.files),
            since=everything.since,
            because=because,
            # Of a look-up only the part that meets the window was used.
            noted=Consumed(files={made.dataset_id: made.files}),
        )
    return Chosen(
        consumed=read,
        rewritten=(),
        since=everything.since,
        because=everything.because,
        # What came outside the window has still to be read.
        noted=Consumed(),
        rows_of=RowsOf(column=str(made.column), window=window),
    )


def _dataset(near: Neighbourhood) -> Dataset:
    assert near.target is not None  # integrity refuses a stage without one
    return near.target


def _target(near: Neighbourhood) -> Any:
    return _dataset(near).target


def _refused(near: Neighbourhood, reason: str) -> NotIdempotent:
    return NotIdempotent(stage=near.stage_id, reason=reason)
