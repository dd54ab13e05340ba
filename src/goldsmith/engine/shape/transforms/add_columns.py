"""Add columns computed by SQL expressions over the existing columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from goldsmith.catalog.transforms import StageTransform

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def _apply(rows: DataFrame, columns: Any) -> DataFrame:
    from pyspark.sql import functions as F

    return rows.withColumns({c: F.expr(expression) for c, expression in columns.items()})


def _names(columns: Any) -> tuple[str, ...]:
    return tuple(str(column) for column, _expression in columns.items())


def _problems(value: Any) -> Iterator[tuple[str, str]]:
    del value
    yield from ()


add_columns = StageTransform(
    position=30,
    type="mapping of a column to a Spark SQL expression",
    doc="Columns that are computed and added, after `cast`.",
    example="{day: to_date(ordered_at)}",
    problems=_problems,
    apply=_apply,
    adds=_names,
    changes=_names,
)
