"""The values that occur in a column against a set of values, without a shuffle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from goldsmith.checks.field import Field
from goldsmith.checks.measures import Judged, Measured, Rows, Total


def compared(
    rows: Rows, field: Field, values: Sequence[Any], *, others_may_be: bool, all_must_be: bool
) -> Total:
    """Which of the values occur, and the first and last of all others."""
    from pyspark.sql import functions as F

    wanted = [value for value in values if value is not None]
    measures = {
        f"found{place}": F.coalesce(F.max(field.is_in([value])), F.lit(False))
        for place, value in enumerate(wanted)
    }
    other = F.when(~field.is_in(wanted), field.value)
    measures |= {"others": F.count(other), "first": F.min(other), "last": F.max(other)}

    def judge(measured: Measured) -> Judged:
        found = [value for place, value in enumerate(wanted) if measured[f"found{place}"]]
        others = [measured["first"], measured["last"]] if measured["others"] else []
        return Judged(
            holds=(others_may_be or not others) and (not all_must_be or len(found) == len(wanted)),
            observed=[*found, *dict.fromkeys(others)],
            expected=f"{'all' if all_must_be else 'some'} of {wanted}"
            + (" and others" if others_may_be else " and no other"),
        )

    return Total(measures=measures, judge=judge)
