"""Separate malformed records from good ones in one pass, each with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from goldsmith.engine.names import literal, name
from goldsmith.engine.read.errors import RAISED
from goldsmith.engine.read.source_file import SOURCE_FILE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

#: The text of a record that could not be parsed; NULL in every good row.
TEXT = "_goldsmith_malformed_text"
#: The reason why it could not be parsed.
REASON = "_goldsmith_malformed_reason"
#: Reasons cover at most this many columns.
_MOST = 200


def all_columns_needed(rows: DataFrame) -> DataFrame:
    """The same rows, with a condition that makes Spark parse every column in every query.

    Spark parses only the columns a query needs, and calls a record malformed only if one of those
    is: good and malformed rows from two queries would not add up to all records.
    """
    from pyspark.sql import functions as F

    # Always true, but Spark cannot know that: it has to parse the columns after the OR.
    always = F.spark_partition_id() >= 0
    nulls = [F.col(name(column)).isNull() for column in rows.columns]
    return rows.where(always | F.greatest(F.lit(False), F.lit(False), *nulls))


def raised() -> Column:
    """The TEXT column for FAILFAST: NULL for good rows; a malformed record fails the query."""
    from pyspark.sql import functions as F

    record = F.struct(
        F.col(SOURCE_FILE).alias("file"), F.col(REASON).alias("reason"), F.col(TEXT).alias("text")
    )
    message = F.concat(F.lit(f"{RAISED} "), F.to_json(record))
    return F.when(F.col(TEXT).isNotNull(), F.raise_error(message).cast("string"))


def misfits(
    schema: StructType, raw: str, value_of: Callable[[str], str], record: str | None = None
) -> str:
    """SQL for `amount is no DOUBLE, …`: columns that are NULL although `raw` has a value.

    `value_of` gives the SQL for a column's value, in which `raw` names the raw record. With
    `record`, the columns are fields of that struct.
    """
    of = f"{record}." if record else ""
    listed = [
        f"CASE WHEN {of}{name(field.name)} IS NULL AND {value_of(field.name)} IS NOT NULL"
        f" THEN {literal(f'{field.name} is no {field.dataType.simpleString().upper()}')} END"
        for field in schema.fields[:_MOST]
    ]
    if not listed:
        return "''"
    # transform() over an array parses the raw record once, not once per column.
    return f"transform(array({raw}), raw -> concat_ws(', ', {', '.join(listed)}))[0]"
