"""What a backfill would read and replace, found out without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from goldsmith.engine.backfill import WindowRead, decide
from goldsmith.engine.shaping import SOURCE_FILE
from goldsmith.engine.warehouses.open import open_warehouse
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.increments import Increments
from goldsmith.planning.lake import load_table
from goldsmith.planning.neighbourhood import Dataset, Neighbourhood
from goldsmith.planning.places import Places
from goldsmith.planning.selection import select
from goldsmith.planning.survey import Survey
from goldsmith.planning.window import Window
from goldsmith.planning.words import is_lake


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """What a backfill of one stage would read and replace, as things are now."""

    stage_id: str
    target_id: str
    write_mode: str
    read: WindowRead
    #: None where only Spark or the warehouse could say.
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
    survey: Survey,
    selection: Sequence[str],
    window: Window,
    increments: Increments,
    places: Places,
) -> list[Preview]:
    """What each selected stage would do; raises where one could not be written again."""
    return [
        _of(survey.stages[name], window, increments, places) for name in select(survey, selection)
    ]


def _of(near: Neighbourhood, window: Window, increments: Increments, places: Places) -> Preview:
    read = decide(near, window, increments, places, lambda type_: open_warehouse(places, type_))
    rows, size = _extent(near.inputs[0], read, window, places)
    return Preview(
        stage_id=near.stage_id,
        target_id=str(near.stage.target_id),
        write_mode=near.words.write_mode,
        read=read,
        rows=rows,
        bytes=size,
        replaced_rows=_replaced(near, read, window, places),
    )


def _extent(
    first: Dataset, read: WindowRead, window: Window, places: Places
) -> tuple[int | None, int | None]:
    """Rows and bytes of the first input that would be read."""
    if read.reads == "files":
        return None, sum(file.size for file in read.files)
    if dataset_kind(first) != "table":
        return None, None
    table = load_table(first, places)
    if table is None or table.current_snapshot() is None:
        return 0, 0
    scan = table.scan()
    if read.column is not None:
        between = _between(table, read.column, window)
        if between is None:
            return None, sum(task.file.file_size_in_bytes for task in scan.plan_files())
        scan = table.scan(row_filter=between)
    return scan.count(), sum(task.file.file_size_in_bytes for task in scan.plan_files())


def _replaced(near: Neighbourhood, read: WindowRead, window: Window, places: Places) -> int | None:
    """How many rows of the target make way, where that can be known before."""
    if near.target is None or not is_lake(near.target.target):
        return None
    table = load_table(near.target, places)
    if table is None or table.current_snapshot() is None:
        return 0
    if read.reads == "everything":
        return int(table.scan().count())
    if near.words.write_mode != "append":
        return None
    if read.reads == "files":
        from pyiceberg import expressions

        said: Any = expressions
        paths = [file.path for file in read.files]
        return int(table.scan(row_filter=said.In(SOURCE_FILE, paths)).count()) if paths else 0
    between = _between(table, str(read.column), window)
    return None if between is None else int(table.scan(row_filter=between).count())


def _between(table: Any, column: str, window: Window) -> Any | None:
    """The window in pyiceberg's words; None where the column is no time."""
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
    # Its own types do not say that a name and a text will do.
    said: Any = expressions
    return said.And(said.GreaterThanOrEqual(column, start), said.LessThan(column, end))


def _first_day(at: datetime) -> str:
    """The first day that does not begin before a moment."""
    later = at + timedelta(days=1) - timedelta(microseconds=1)
    return later.date().isoformat()


def as_lines(found: Sequence[Preview]) -> Iterator[str]:
    """Previews in words."""
    for stage in found:
        read = stage.read
        yield f"{stage.stage_id} ({stage.write_mode}) → {stage.target_id}"
        what = {
            "files": f"{len(read.files):,} files of {read.dataset_id}",
            "rows": f"rows of {read.dataset_id} by {read.column}",
            "everything": f"everything of {read.dataset_id}",
        }[read.reads]
        rows = "" if stage.rows is None else f", {stage.rows:,} rows"
        size = "" if stage.bytes is None else f", {stage.bytes / 1e6:,.2f} MB"
        yield f"    reads {what}{rows}{size}"
        for file in read.files:
            yield f"      {file.path} ({file.size:,} bytes)"
        gone = "" if stage.replaced_rows is None else f": {stage.replaced_rows:,} rows now"
        yield f"    replaces {read.replaces}{gone}"
    yield "Nothing was read or changed. Stages that feed others may give them more to read."
