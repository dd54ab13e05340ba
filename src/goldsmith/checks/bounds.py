"""The bounds `min` and `max`, for the values of a row or for a number over all rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

from goldsmith.checks.field import Field
from goldsmith.checks.measures import Judged, Measured, Total

if TYPE_CHECKING:
    from pyspark.sql import Column

#: The result where there is no value to judge: no rows, or only NULLs.
Empty = Literal["fail", "pass"]


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """A lower and an upper bound, inclusive unless strict."""

    min: Any = None
    max: Any = None
    strict_min: bool = False
    strict_max: bool = False

    def broken(self, field: Field) -> Column:
        """The column's value lies outside the bounds."""
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
        """A number computed from a row lies outside the bounds."""
        from pyspark.sql import functions as F

        broken = F.lit(False)
        if self.min is not None:
            broken = broken | (value <= self.min if self.strict_min else value < self.min)
        if self.max is not None:
            broken = broken | (value >= self.max if self.strict_max else value > self.max)
        return broken

    def inside(self, value: Column, field: Field) -> Column:
        """The smallest or greatest value of the column lies inside the bounds."""
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
        """A number lies inside the bounds."""
        if self.min is not None and not (
            value > self.min if self.strict_min else value >= self.min
        ):
            return False
        return self.max is None or (value < self.max if self.strict_max else value <= self.max)

    def judge(self, value: Any, empty: Empty = "fail") -> Judged:
        """Judge a number; `empty` is the result without one (None or NaN)."""
        if self.are_empty:
            return Judged(holds=True, observed=value, expected=self.description)
        if value is None or (isinstance(value, float) and isnan(value)):
            return Judged(holds=empty == "pass", observed=None, expected=self.description)
        return Judged(holds=self.holds(value), observed=value, expected=self.description)

    def judge_nothing(self, share: float | Literal["pass"]) -> Judged:
        """Judge a share of no values: `pass` holds, a number is judged as the share."""
        return self.judge(None, "pass") if isinstance(share, str) else self.judge(share)

    @property
    def are_empty(self) -> bool:
        """There is no bound: every value lies inside."""
        return self.min is None and self.max is None

    @property
    def description(self) -> str:
        low = f"more than {self.min}" if self.strict_min else f"at least {self.min}"
        high = f"less than {self.max}" if self.strict_max else f"at most {self.max}"
        parts = [text for text, bound in ((low, self.min), (high, self.max)) if bound is not None]
        return " and ".join(parts) or "anything"


def total_between(value: Column, bounds: Bounds, empty: Empty) -> Total:
    """Measure a number over all rows and judge it by numeric bounds."""
    return Total(
        measures={"value": value}, judge=lambda measured: bounds.judge(measured["value"], empty)
    )


def extreme_between(value: Column, field: Field, bounds: Bounds, empty: Empty) -> Total:
    """Measure the smallest or greatest value of a column and judge it by bounds of its type."""

    def judge(measured: Measured) -> Judged:
        value = measured["value"]
        holds = empty == "pass" if value is None else bool(measured["inside"])
        holds = holds or bounds.are_empty
        return Judged(holds=holds, observed=value, expected=bounds.description)

    # Spark would hand Python a timestamp in the time zone of this process.
    shown = value.cast("timestamp_ntz") if field.type.typeName() == "timestamp" else value
    return Total(measures={"value": shown, "inside": bounds.inside(value, field)}, judge=judge)
