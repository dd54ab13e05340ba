"""The number of distinct values in the column, or the columns, lies between `min` and `max`.

With `equals` it is that number. Values are counted exactly, not estimated; NULLs are left out."""

from __future__ import annotations

from collections.abc import Sequence

from goldsmith.checks.bounds import Bounds
from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.field import Field, fields_of
from goldsmith.checks.measures import Keys


@dataset_check(
    says="the number of different values of {columns} is out of bounds",
    any_of=("min", "max", "equals"),
    cost=Cost.KEYS,
)
def distinct_count(
    column: Field | None = None,
    columns: Sequence[Field] | None = None,
    min: float | None = None,
    max: float | None = None,
    equals: int | None = None,
    strict_min: bool = False,
    strict_max: bool = False,
) -> Keys:
    bounds = Bounds(min=min, max=max, strict_min=strict_min, strict_max=strict_max)
    if equals is not None:
        bounds = Bounds(min=equals, max=equals)
    return Keys(
        fields=fields_of("distinct_count", column, columns),
        judge=lambda measured: bounds.judge(measured["distinct"]),
    )
