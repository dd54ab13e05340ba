"""The values of a row in a form that Spark can compare and hash."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from goldsmith.engine.names import name
from goldsmith.planning.resolved_stage import BRONZE_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Types that Spark can neither compare nor hash: they are converted to JSON text.
_AS_TEXT = ("map<", "variant")


def comparable_columns(rows: DataFrame, *, but: Collection[str] = ()) -> list[Column]:
    """All columns except bronze's, which differ between runs over the same data, and `but`."""
    from pyspark.sql import functions as F

    excluded = {column_name.lower() for column_name in (*BRONZE_COLUMNS, *but)}
    found: list[Column] = []
    for field in rows.schema.fields:
        if field.name.lower() in excluded:
            continue
        column, type_ = F.col(name(field.name)), field.dataType.simpleString()
        is_text = any(type_name in type_ for type_name in _AS_TEXT)
        found.append(F.to_json(F.struct(column)) if is_text else column)
    return found
