"""Records that could not be parsed: told apart from the good ones in one pass, with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from goldsmith.engine.names import literal, name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

#: The text of a record that could not be parsed; NULL in every good row.
TEXT = "_malformed_text"
#: Why, in words.
REASON = "_malformed_reason"
#: Reasons list the columns that do not fit up to this many.
_MOST = 200


def all_columns_needed(rows: DataFrame) -> DataFrame:
    """The same rows; Spark parses every column of them, whatever is asked of them later.

    Spark parses only the columns a query needs, and a record is malformed only if one of those
    is: good and malformed rows, asked for in two queries, would not add up to all records.
    """
    from pyspark.sql import functions as F

    # Always true, which Spark cannot know beforehand: the columns after the OR are needed.
    always = F.spark_partition_id() >= 0
    nulls = [F.col(name(column)).isNull() for column in rows.columns]
    return rows.where(always | F.greatest(F.lit(False), F.lit(False), *nulls))


def misfits(
    schema: StructType, raw: str, value_of: Callable[[str], str], record: str | None = None
) -> str:
    """SQL for `amount is no DOUBLE, …`: columns that are NULL though `raw` holds a value.

    `value_of` is SQL for the value a column has in `raw`, which is called that in it; the columns
    are those of the struct `record` where it is given.
    """
    of = f"{record}." if record else ""
    listed = [
        f"CASE WHEN {of}{name(field.name)} IS NULL AND {value_of(field.name)} IS NOT NULL"
        f" THEN {literal(f'{field.name} is no {field.dataType.simpleString().upper()}')} END"
        for field in schema.fields[:_MOST]
    ]
    if not listed:
        return "''"
    # A function of an array: so the raw record is parsed once, and not for every column.
    return f"transform(array({raw}), raw -> concat_ws(', ', {', '.join(listed)}))[0]"
