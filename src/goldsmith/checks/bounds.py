"""Between `min` and `max`: of the values of a row, and of a number over all rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

from goldsmith.checks.field import Field
from goldsmith.checks.measures import Judged, Measured, Total

if TYPE_CHECKING:
    from pyspark.sql import Column

#: What is said where there is no value to judge: no rows, or NULLs only.
Empty = Literal["fail", "pass"]


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The bounds themselves are in, unless they are strict."""

    min: Any = None
    max: Any = None
    strict_min: bool = False
    strict_max: bool = False

    def broken(self, field: Field) -> Column:
        """The column's value lies outside."""
        from pyspark.sql import functions as F

        broken = F.lit(False)
        if self.min is not None:
            low = field.literal(self.min)
            broken = broken | (field.value <= low if self.strict_min else field.value < low)
        if self.max is not None:
            high = field.literal(self.max)
            broken = broken | (field.value >= high if self.strict_max else field.value > high)
        return broken

    def outside(self, value: Column) -> Column:
        """A number computed of a row lies outside."""
        from pyspark.sql import functions as F

        broken = F.lit(False)
        if self.min is not None:
            broken = broken | (value <= self.min if self.strict_min else value < self.min)
        if self.max is not None:
            broken = broken | (value >= self.max if self.strict_max else value > self.max)
        return broken

    def inside(self, value: Column, field: Field) -> Column:
        """An extreme of the column lies inside."""
        from pyspark.sql import functions as F

        holds = F.lit(True)
        if self.min is not None:
            low = field.literal(self.min)
            holds = holds & (value > low if self.strict_min else value >= low)
        if self.max is not None:
            high = field.literal(self.max)
            holds = holds & (value < high if self.strict_max else value <= high)
        return holds

    def holds(self, value: Any) -> bool:
        """A number lies inside."""
        if self.min is not None and not (
            value > self.min if self.strict_min else value >= self.min
        ):
            return False
        return self.max is None or (value < self.max if self.strict_max else value <= self.max)

    def judge(self, value: Any, empty: Empty = "fail") -> Judged:
        """What to say of a number, or of none."""
        if value is None or (isinstance(value, float) and isnan(value)):
            return Judged(holds=empty == "pass", observed=None, expected=self.words)
        return Judged(holds=self.holds(value), observed=value, expected=self.words)

    def judge_nothing(self, share: float | Literal["pass"]) -> Judged:
        """What to say of a share of no values."""
        return self.judge(None, "pass") if isinstance(share, str) else self.judge(share)

    @property
    def words(self) -> str:
        low = f"more than {self.min}" if self.strict_min else f"at least {self.min}"
        high = f"less than {self.max}" if self.strict_max else f"at most {self.max}"
        said = [text for text, bound in ((low, self.min), (high, self.max)) if bound is not None]
        return " and ".join(said) or "anything"


def total_between(value: Column, bounds: Bounds, empty: Empty) -> Total:
    """A number over all rows lies between bounds that are numbers."""
    return Total(
        measures={"value": value}, judge=lambda measured: bounds.judge(measured["value"], empty)
    )


def extreme_between(value: Column, field: Field, bounds: Bounds, empty: Empty) -> Total:
    """The smallest or greatest value of a column lies between bounds of its type."""

    def judge(measured: Measured) -> Judged:
        value = measured["value"]
        holds = empty == "pass" if value is None else bool(measured["inside"])
        return Judged(holds=holds, observed=value, expected=bounds.words)

    # A time that has a zone would come to Python in the zone of this process.
    shown = value.cast("timestamp_ntz") if field.type.typeName() == "timestamp" else value
    return Total(measures={"value": shown, "inside": bounds.inside(value, field)}, judge=judge)
