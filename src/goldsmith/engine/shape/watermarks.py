"""Compare watermarks in text columns.

As text '10' is less than '9'. Two texts are compared as numbers if both are numbers, as times if
both are times; otherwise the stage fails before anything is published.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldsmith.engine.names import literal, name
from goldsmith.errors import GoldsmithError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Patterns that mean the same in Spark, DuckDB, PostgreSQL and Redshift.
NUMBER = r"^[+-]?[0-9]{1,28}([.][0-9]{1,9})?$"
TIME = (
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    "([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?$"
)
DECIMAL = "DECIMAL(38, 9)"
_MARK = "goldsmith: watermarks cannot be compared: "
_RAISED = re.compile(re.escape(_MARK) + r"(.+?)\s*(?:SQLSTATE|\n|$)")


@dataclass(eq=False, kw_only=True)
class WatermarkNotComparable(GoldsmithError):
    """A text watermark holds values that are neither all numbers nor all times."""

    exit_code = 1

    column: str

    def __str__(self) -> str:
        return (
            f"The watermark '{self.column}' is text, and some of its values are neither numbers"
            " nor times (2026-01-31T12:00:00Z), so nobody can say which of two rows is newer."
        )

    @property
    def hint(self) -> str:
        return (
            "Cast it in the stage's SQL, by options.cast or in the source's declared schema;"
            " nothing was published."
        )


def as_raised(error: Exception) -> WatermarkNotComparable | None:
    """The error for a Spark failure on watermarks that cannot be compared; None for others."""
    found = _RAISED.search(str(error))
    return None if found is None else WatermarkNotComparable(column=found[1])


def is_text(rows: DataFrame, column: str) -> bool:
    from pyspark.sql.types import StringType

    fields = {field.name.lower(): field for field in rows.schema.fields}
    field = fields.get(column.lower())
    return field is not None and isinstance(field.dataType, StringType)


def newest_first(rows: DataFrame, column: str) -> list[Column]:
    """The sort order that puts the newest row of a key first."""
    from pyspark.sql import functions as F

    value = F.col(name(column))
    if not is_text(rows, column):
        return [value.desc_nulls_last()]
    number = F.when(value.rlike(NUMBER), value.try_cast(DECIMAL))
    time = F.when(value.rlike(TIME), value.try_cast("timestamp"))
    return [number.desc_nulls_last(), time.desc_nulls_last()]


def proved(rank: Column, rows: DataFrame, keys: Sequence[str], column: str) -> Column:
    """The rank, as an expression that fails if watermarks of a key cannot be compared."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    if not is_text(rows, column):
        return rank
    of_key = Window.partitionBy(*(F.col(name(key)) for key in keys))
    value = F.col(name(column))
    kind = (
        F.when(value.rlike(NUMBER), 1)
        .when(value.rlike(TIME) & value.try_cast("timestamp").isNotNull(), 2)
        .when(value.isNotNull(), 0)
    )
    least, most = F.min(kind).over(of_key), F.max(kind).over(of_key)
    differ = F.min(value).over(of_key) != F.max(value).over(of_key)
    unlike = differ & ((least == 0) | (least != most))
    return F.when(unlike, F.raise_error(F.lit(_MARK + column))).otherwise(rank)


def time_of(rows: DataFrame, column: str) -> Column:
    """The watermark as a timestamp, for the validity of a version."""
    from pyspark.sql import functions as F

    value = F.col(name(column))
    if not is_text(rows, column):
        return value.cast("timestamp")
    # Spark takes '12:30' for a time of today and '2026' for a year.
    return F.when(value.isNull() | value.rlike(TIME), value.cast("timestamp")).otherwise(
        F.raise_error(F.lit(_MARK + column)).cast("timestamp")
    )


def not_older(rows: DataFrame, column: str) -> str:
    """Spark SQL condition: the incoming row `s` is not older than the existing row `t`."""
    ours, theirs = f"s.{name(column)}", f"t.{name(column)}"
    if not is_text(rows, column):
        return f"{ours} >= {theirs}"
    return (
        f"CASE WHEN {ours} IS NULL THEN false WHEN {ours} = {theirs} THEN true"
        f" WHEN {ours} RLIKE {literal(NUMBER)} AND {theirs} RLIKE {literal(NUMBER)}"
        f" THEN CAST({ours} AS {DECIMAL}) >= CAST({theirs} AS {DECIMAL})"
        f" WHEN {ours} RLIKE {literal(TIME)} AND {theirs} RLIKE {literal(TIME)}"
        f" THEN CAST({ours} AS TIMESTAMP) >= CAST({theirs} AS TIMESTAMP)"
        f" ELSE raise_error({literal(_MARK + column)}) END"
    )
