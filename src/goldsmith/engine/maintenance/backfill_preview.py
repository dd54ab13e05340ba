"""Preview what a backfill would read and replace, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from goldsmith.catalog.flags import Flag
from goldsmith.engine.read.backfill import decide
from goldsmith.engine.warehouses.open import open_warehouse
from goldsmith.errors import count
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.increments import Increments
from goldsmith.planning.lake import load_table
from goldsmith.planning.provenance import SOURCE_FILE
from goldsmith.planning.resolved_stage import is_lake
from goldsmith.planning.selection import select
from goldsmith.planning.stage_context import Dataset, StageContext
from goldsmith.planning.stopped import Stops
from goldsmith.planning.window import Window
from goldsmith.planning.window_read import WindowRead
from goldsmith.storage.storage import Storage


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """What a backfill of one stage would read and replace now."""

    stage_id: str
    target_id: str
    write_mode: str
    read: WindowRead
    #: None if only Spark or the warehouse could count it.
    rows: int | None
    bytes: int | None
    replaced_rows: int | None

    def as_plain(self) -> dict[str, Any]:
        return {
            "stage_id": self.stage_id,
            "target_id": self.target_id,
            "write_mode": self.write_mode,
            "dataset_id": self.read.dataset_id,
            "reads": self.read.reads,
            "column": self.read.column,
            "files": [{"path": f.path, "bytes": f.size} for f in self.read.files],
            "rows": self.rows,
            "bytes": self.bytes,
            "replaces": self.read.replaces,
            "replaced_rows": self.replaced_rows,
        }


def preview(
    catalog_index: CatalogIndex,
    selection: Sequence[str],
    window: Window,
    increments: Increments,
    storage: Storage,
) -> list[Preview]:
    """Preview each selected stage; raise if a stage cannot write its window again."""
    without = set(left_out(catalog_index, selection))
    names = [name for name in select(catalog_index, selection) if name not in without]
    return [_of(catalog_index.stages[name], window, increments, storage) for name in names]


def left_out(catalog_index: CatalogIndex, selection: Sequence[str]) -> list[str]:
    """The selected stages that a run leaves out because they are disabled."""
    stops = Stops.of(catalog_index.rows.rows(Flag), datetime.now(UTC))
    return [
        name
        for name in select(catalog_index, selection)
        if stops.leaves_out(catalog_index.stages[name])
    ]


def _of(context: StageContext, window: Window, increments: Increments, storage: Storage) -> Preview:
    read = decide(
        context, window, increments, storage, lambda type_: open_warehouse(storage, type_)
    )
    rows, size = _extent(context.inputs[0], read, window, storage)
    return Preview(
        stage_id=context.stage_id,
        target_id=str(context.stage.target_id),
        write_mode=context.resolved.write_mode,
        read=read,
        rows=rows,
        bytes=size,
        replaced_rows=_replaced(context, read, window, storage),
    )


def _extent(
    first: Dataset, read: WindowRead, window: Window, storage: Storage
) -> tuple[int | None, int | None]:
    """Rows and bytes of the first input that would be read."""
    if read.reads == "files":
        return None, sum(file.size for file in read.files)
    if dataset_kind(first) != "table":
        return None, None
    table = load_table(first, storage)
    if table is None or table.current_snapshot() is None:
        return 0, 0
    scan = table.scan()
    if read.column is not None:
        between = _between(table, read.column, window)
        if between is None:
            return None, sum(task.file.file_size_in_bytes for task in scan.plan_files())
        scan = table.scan(row_filter=between)
    return scan.count(), sum(task.file.file_size_in_bytes for task in scan.plan_files())


def _replaced(
    context: StageContext, read: WindowRead, window: Window, storage: Storage
) -> int | None:
    """How many rows of the target would be replaced; None if unknown before the run."""
    if context.target is None or not is_lake(context.target.target):
        return None
    table = load_table(context.target, storage)
    if table is None or table.current_snapshot() is None:
        return 0
    if read.reads == "everything":
        return int(table.scan().count())
    if not context.resolved.appends:
        return None
    if read.reads == "files":
        if SOURCE_FILE not in table.schema().column_names:
            return None
        from pyiceberg import expressions

        untyped: Any = expressions
        paths = [file.path for file in read.files]
        return int(table.scan(row_filter=untyped.In(SOURCE_FILE, paths)).count()) if paths else 0
    between = _between(table, str(read.column), window)
    return None if between is None else int(table.scan(row_filter=between).count())


def _between(table: Any, column: str, window: Window) -> Any | None:
    """The window as a pyiceberg filter; None if the column is no date or timestamp."""
    from pyiceberg import expressions
    from pyiceberg.types import DateType, TimestampType, TimestamptzType

    match table.schema().find_field(column).field_type:
        case TimestamptzType():
            start, end = window.start.isoformat(), window.end.isoformat()
        case TimestampType():
            start, end = (at.replace(tzinfo=None).isoformat() for at in (window.start, window.end))
        case DateType():
            start, end = _first_day(window.start), _first_day(window.end)
        case _:
            return None
    # pyiceberg's type hints do not allow a column name and a text.
    untyped: Any = expressions
    return untyped.And(untyped.GreaterThanOrEqual(column, start), untyped.LessThan(column, end))


def _first_day(at: datetime) -> str:
    """The first day that starts at or after a time."""
    later = at + timedelta(days=1) - timedelta(microseconds=1)
    return later.date().isoformat()


def as_lines(found: Sequence[Preview], without: Sequence[str] = ()) -> Iterator[str]:
    """Previews as lines of text, and the stages that are left out."""
    for stage_id in without:
        yield f"{stage_id} is left out: it is not enabled"
    for stage in found:
        read = stage.read
        yield f"{stage.stage_id} ({stage.write_mode}) → {stage.target_id}"
        what = {
            "files": f"{count(len(read.files), 'file')} of {read.dataset_id}",
            "rows": f"rows of {read.dataset_id} by {read.column}",
            "everything": f"everything of {read.dataset_id}",
        }[read.reads]
        rows = "" if stage.rows is None else f", {count(stage.rows, 'row')}"
        size = "" if stage.bytes is None else f", {stage.bytes / 1e6:,.2f} MB"
        yield f"    reads {what}{rows}{size}"
        for file in read.files:
            yield f"      {file.path} ({file.size:,} bytes)"
        gone = "" if stage.replaced_rows is None else f": {count(stage.replaced_rows, 'row')} now"
        yield f"    replaces {read.replaces}{gone}"
    yield "Nothing was read or changed. Stages that feed others may give them more to read."
