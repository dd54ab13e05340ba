"""Partition expressions as Spark SQL, with quoted column names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldsmith.checks.errors import ColumnNotThere
from goldsmith.checks.field import find
from goldsmith.errors import GoldsmithError, one_of
from goldsmith.planning.integrity.partitions import parse_partition

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


@dataclass(eq=False, kw_only=True)
class PartitionColumnMissing(GoldsmithError):
    """A stage partitions its table by a column that its rows do not have."""

    exit_code = 1

    expression: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"partition_by holds '{self.expression}', and the rows have no such column."

    @property
    def hint(self) -> str:
        return f"Its columns: {one_of(self.known)}. Nothing was published."


def partition_sql(schema: StructType, expression: str) -> str:
    """An expression of `partition_by` over a table's columns.

    A column called `a.b` comes before a field b of a column a; backticks leave no doubt.
    """
    parsed = parse_partition(expression)
    assert parsed is not None  # a finding refuses it before any run
    try:
        column, _type = find(schema, parsed.column, check="partition_by")
    except ColumnNotThere as error:
        known = tuple(schema.fieldNames())
        raise PartitionColumnMissing(expression=expression, known=known) from error
    if parsed.transform is None:
        return column
    size = "" if parsed.size is None else f"{parsed.size}, "
    return f"{parsed.transform}({size}{column})"
