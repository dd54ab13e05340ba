"""Cast columns to other types; a value that does not fit stops the stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldsmith.catalog.transforms import StageTransform, by_column
from goldsmith.engine.names import name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def _apply(rows: DataFrame, columns: Any) -> DataFrame:
    from pyspark.sql import functions as F

    return rows.withColumns({c: F.col(name(c)).cast(type_) for c, type_ in columns.items()})


def _changes(columns: Any) -> tuple[str, ...]:
    return tuple(str(column) for column in columns)


def _keeps_time(columns: Any, column: str) -> bool:
    # A cast to a date drops the time of day.
    types = [str(type_).lower() for c, type_ in columns.items() if str(c).lower() == column]
    return all(type_.startswith("timestamp") for type_ in types)


cast = StageTransform(
    position=20,
    type="mapping of a column to a Spark SQL type",
    doc="Columns that get another type, after `rename`; a value that does not fit fails.",
    example="{amount: 'decimal(12,2)'}",
    problems=by_column("column: type"),
    apply=_apply,
    changes=_changes,
    keeps_time=_keeps_time,
)
