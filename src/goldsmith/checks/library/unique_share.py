"""The number of distinct values divided by the number of values lies between `min` and `max`.

Values are counted exactly; NULLs are left out. Without values the share is `of_nothing`; with
`of_nothing: pass` the check passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from goldsmith.checks.bounds import Bounds
from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.field import Field, fields_of
from goldsmith.checks.measures import Judged, Keys, Measured
from goldsmith.checks.settings import Share


@dataset_check(
    says="the share of different values of {columns} is out of bounds",
    any_of=("min", "max"),
    cost=Cost.KEYS,
)
def unique_share(
    column: Field | None = None,
    columns: Sequence[Field] | None = None,
    min: float | None = None,
    max: float | None = None,
    strict_min: bool = False,
    strict_max: bool = False,
    of_nothing: Share | Literal["pass"] = 0.0,
) -> Keys:
    bounds = Bounds(min=min, max=max, strict_min=strict_min, strict_max=strict_max)

    def judge(measured: Measured) -> Judged:
        rows = measured["rows"]
        if not rows:
            return bounds.judge_nothing(of_nothing)
        return bounds.judge(measured["distinct"] / rows)

    return Keys(fields=fields_of("unique_share", column, columns), judge=judge)
