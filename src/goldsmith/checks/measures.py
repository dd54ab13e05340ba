"""What a check asks to be measured of the rows, and what it makes of the answer.

A row check gives the condition of a broken row. The others give one of these:

- `Total`: named aggregates that ride on whatever pass evaluates the rows, no shuffle.
- `Keys`: how often values repeat, exactly; all keys of a stage are counted together.
- `Extra`: one row computed from the rows by a plan of its own (a join, a window, a query).
- `Known`: an answer that needs no rows: the schema, or what the journal says.

Each but the last comes with a judge: a plain function of what was measured.
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
    """What a judge says of what was measured."""

    holds: bool
    observed: Any = None
    #: What was wanted, in words.
    expected: str | None = None


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Broken rows of those the check speaks of; the settings of every check say how many may be."""

    broken: int
    of: int
    observed: Any = None
    #: Of a threshold by partition: partitions that break it, of how many, and the worst of them.
    parts_broken: int = 0
    parts: int = 0
    worst_part: str | None = None


Judge = Callable[[Measured], Judged | Counted]


@dataclass(frozen=True, kw_only=True)
class Broken:
    """The condition of a broken row, and of the rows the check speaks of at all."""

    condition: Column
    #: None: where no column the check names is NULL.
    applies: Column | None = None


@dataclass(frozen=True, kw_only=True)
class Total:
    """Aggregates over all rows that need no shuffle."""

    measures: Mapping[str, Column]
    judge: Judge


@dataclass(frozen=True, kw_only=True)
class Keys:
    """How often the values of the columns occur.

    The judge is given: rows, distinct, repeated (rows whose key occurs more than once),
    repeated_keys, null_rows (rows left out for a NULL); with `wanted`, a condition, also is_wanted
    (a most frequent key fulfils it), at_top (how many are that frequent) and most_common.
    """

    fields: Sequence[Field]
    judge: Judge
    #: `equal`: a NULL is a value like others; else the row is left out and counted in null_rows.
    nulls: Literal["distinct", "equal", "broken"] = "distinct"
    #: A row is left out where any of its columns is NULL, only where all are, or never.
    ignore: Literal["any", "all", "never"] = "any"
    wanted: Callable[[], Column] | None = None


@dataclass(frozen=True, kw_only=True)
class Extra:
    """A plan of its own that gives one row of measures."""

    plan: Callable[[DataFrame], DataFrame]
    judge: Judge


@dataclass(frozen=True, kw_only=True)
class Known:
    """An answer that needs no rows."""

    judged: Judged


Asked = Broken | Total | Keys | Extra | Known


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows as a check's function is told of them."""

    schema: StructType
    #: The check's row condition, never NULL; None: every row.
    where: Column | None = None
    #: A setting's name → the column it means.
    fields: Mapping[str, Field] = field(default_factory=dict)

    def count(self) -> Column:
        """How many rows there are."""
        from pyspark.sql import functions as F

        return F.count(F.lit(1) if self.where is None else F.when(self.where, F.lit(1)))

    def count_if(self, condition: Column) -> Column:
        """For how many rows the condition is true."""
        from pyspark.sql import functions as F

        return F.count(F.when(condition if self.where is None else self.where & condition, 1))

    def of(self, rows: DataFrame) -> DataFrame:
        """Those rows the check speaks of."""
        return rows if self.where is None else rows.where(self.where)
