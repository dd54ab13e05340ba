"""Observe what the decision on a backfill depends on: files, columns, replayed rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from goldsmith.catalog.write_modes import Replaces
from goldsmith.engine.warehouses.warehouse import Warehouse
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.increments import Increments
from goldsmith.planning.lake import load_table
from goldsmith.planning.observed import SeenWindow
from goldsmith.planning.stage_context import Dataset, StageContext
from goldsmith.planning.window import Window
from goldsmith.planning.window_read import WindowRead, read_window
from goldsmith.storage.storage import Storage

Open = Callable[[str], Warehouse]


def decide(
    context: StageContext, window: Window, increments: Increments, storage: Storage, open_: Open
) -> WindowRead:
    """Decide what a window selects for a stage; raises if it cannot be written again."""
    return read_window(context, window, observe_window(context, window, increments, storage, open_))


def observe_window(
    context: StageContext,
    window: Window,
    increments: Increments,
    storage: Storage,
    open_: Open,
    *,
    moved_days: frozenset[str] = frozenset(),
) -> SeenWindow:
    """Observe the files or the columns of the first input, and the columns of the target."""
    first = context.inputs[0]
    appends = context.resolved.appends
    if context.resolved.replaces is Replaces.EVERYTHING:
        return SeenWindow()  # it reads everything, or is refused
    if dataset_kind(first) == "files":
        listed = increments.files(first)
        inside = [file.path for file in listed if window.holds_file(file)]
        outside = increments.compared_with(context, first, inside) if appends else set()
        return SeenWindow(listed=listed, deduplicated=frozenset(outside))
    target = context.target
    assert target is not None  # integrity refuses a stage without one
    return SeenWindow(
        input_columns=columns(first, storage, open_) if context.stage.watermark_column else None,
        target_columns=columns(target, storage, open_) if appends else None,
        moved_days=moved_days,
    )


def columns(dataset: Dataset, storage: Storage, open_: Open) -> Mapping[str, Any] | None:
    """A dataset's columns, read without Spark; None if it has no table yet."""
    if dataset_kind(dataset) == "table":
        table = load_table(dataset, storage)
        return None if table is None else {f.name: f.field_type for f in table.schema().fields}
    target = dataset.target
    assert target is not None  # a warehouse table has a row in targets
    return open_(str(target.type)).columns(target.location or target.target_id)
