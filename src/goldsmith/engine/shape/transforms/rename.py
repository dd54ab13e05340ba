"""Give columns other names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldsmith.catalog.transforms import StageTransform, by_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def _apply(rows: DataFrame, columns: Any) -> DataFrame:
    return rows.withColumnsRenamed(dict(columns))


def _new_names(columns: Any) -> tuple[str, ...]:
    return tuple(str(new) for new in columns.values())


def _old_and_new(columns: Any) -> tuple[str, ...]:
    return (*(str(old) for old in columns), *_new_names(columns))


rename = StageTransform(
    position=10,
    type="mapping of a column to its new name",
    doc="Columns that get another name; the first step after the SQL.",
    example="{cust: customer_id}",
    problems=by_column("old: new"),
    apply=_apply,
    adds=_new_names,
    changes=_old_and_new,
)
