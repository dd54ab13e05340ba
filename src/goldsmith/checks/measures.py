"""What a check measures, and how it judges the measured values.

A row check returns the condition of a broken row. A dataset check returns one of these:

- `Total`: named aggregates without a shuffle, measured in any pass over the rows.
- `Keys`: how often values repeat, exactly; all keys of a stage are counted together.
- `Extra`: one row computed from the rows by a plan of its own (a join, a window, a query).
- `KnownTotals`: a result that needs no rows: it comes from the schema or the journal.

Each but the last has a judge: a plain function of the measured values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from goldsmith.checks.field import Field

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

Measured = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A judge's verdict on measured values."""

    holds: bool
    observed: Any = None
    #: What was expected, as text.
    expected: str | None = None


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Broken rows, of the rows the check applies to; `mostly` and `max_broken` allow some."""

    broken: int
    of: int
    observed: Any = None
    #: With a threshold per partition: partitions that break it, all partitions, the worst one.
    parts_broken: int = 0
    parts: int = 0
    worst_part: str | None = None


Judge = Callable[[Measured], Judged | Counted]


@dataclass(frozen=True, kw_only=True)
class Broken:
    """The condition of a broken row, and of the rows the check applies to."""

    condition: Column
    #: None: the check applies where no column it names is NULL.
    applies: Column | None = None


@dataclass(frozen=True, kw_only=True)
class Total:
    """Aggregates over all rows that need no shuffle."""

    measures: Mapping[str, Column]
    judge: Judge


@dataclass(frozen=True, kw_only=True)
class Keys:
    """How often the values of the columns occur.

    The judge receives: rows, distinct, repeated (rows whose key occurs more than once),
    repeated_keys, null_rows (rows left out for a NULL). With the condition `wanted` it receives
    is_wanted (a most frequent key fulfils it), at_top (how many keys tie as the most frequent)
    and most_common.
    """

    fields: Sequence[Field]
    judge: Judge
    #: `equal`: a NULL is a value like others; otherwise the row is left out, counted in null_rows.
    nulls: Literal["distinct", "equal", "broken"] = "distinct"
    #: A row is left out where any of its columns is NULL, only where all are, or never.
    ignore: Literal["any", "all", "never"] = "any"
    wanted: Callable[[], Column] | None = None


@dataclass(frozen=True, kw_only=True)
class Extra:
    """A plan of its own that returns one row of measures."""

    plan: Callable[[DataFrame], DataFrame]
    judge: Judge


@dataclass(frozen=True, kw_only=True)
class KnownTotals:
    """A result that needs no rows."""

    judged: Judged


Measurement = Broken | Total | Keys | Extra | KnownTotals


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The schema and row condition that a check's function receives."""

    schema: StructType
    #: The check's row condition, never NULL; None: every row.
    where: Column | None = None
    #: A setting's name → the column it names.
    fields: Mapping[str, Field] = field(default_factory=dict)

    def count(self) -> Column:
        """An aggregate: the number of rows the check applies to."""
        from pyspark.sql import functions as F

        return F.count(F.lit(1) if self.where is None else F.when(self.where, F.lit(1)))

    def count_if(self, condition: Column) -> Column:
        """An aggregate: the number of those rows for which the condition is true."""
        from pyspark.sql import functions as F

        return F.count(F.when(condition if self.where is None else self.where & condition, 1))

    def of(self, rows: DataFrame) -> DataFrame:
        """The rows the check applies to."""
        return rows if self.where is None else rows.where(self.where)
