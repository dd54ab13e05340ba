"""The most frequent value of the column is one of `values`.

If several values tie, `ties: fail` fails the check, and `ties: any` requires one of them to be
among `values`. NULLs are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Judged, Keys, Measured


@dataset_check(says="the most common {column} is not one of {values}", cost=Cost.KEYS)
def most_common_value(
    column: Plain, values: Sequence[object], ties: Literal["fail", "any"] = "any"
) -> Keys:
    def judge(measured: Measured) -> Judged:
        alone = ties == "any" or measured["at_top"] == 1
        return Judged(
            holds=bool(measured["is_wanted"]) and alone,
            observed=measured["most_common"] or [],
            expected=f"one of {list(values)}",
        )

    return Keys(fields=[column], judge=judge, wanted=lambda: column.is_in(values))
