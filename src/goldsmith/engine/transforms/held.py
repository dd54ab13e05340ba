"""What a row says, as values that can be compared and hashed."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from goldsmith.engine.names import name

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Spark neither compares nor hashes these; as text it does both.
_AS_TEXT = ("map<", "variant")


def held(rows: DataFrame, *, but: Collection[str] = ()) -> list[Column]:
    """The columns of a row that are its own; bookkeeping differs between runs of the same data."""
    from pyspark.sql import functions as F

    found: list[Column] = []
    for field in rows.schema.fields:
        if field.name.startswith("_") or field.name in but:
            continue
        column, type_ = F.col(name(field.name)), field.dataType.simpleString()
        is_text = any(word in type_ for word in _AS_TEXT)
        found.append(F.to_json(F.struct(column)) if is_text else column)
    return found
