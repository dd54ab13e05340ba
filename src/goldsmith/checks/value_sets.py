"""Compare the distinct values of a column with a set of values, without a shuffle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from goldsmith.checks.field import Field
from goldsmith.checks.measures import Judged, Measured, Rows, Total
from goldsmith.checks.nulls import Nulls


def compared(
    rows: Rows,
    field: Field,
    values: Sequence[Any],
    *,
    others_may_be: bool,
    all_must_be: bool,
    nulls: Nulls = "pass",
) -> Total:
    """Measure which of the values occur, and the smallest and greatest of all other values."""
    from pyspark.sql import functions as F

    wanted = [value for value in values if value is not None]
    # A NULL among the listed values can never occur in the column.
    attainable = len(wanted) == len(values)
    measures = {
        f"found{index}": F.coalesce(F.max(field.is_in([value])), F.lit(False))
        for index, value in enumerate(wanted)
    }
    other = F.when(~field.is_in(wanted), field.value)
    measures |= {"others": F.count(other), "first": F.min(other), "last": F.max(other)}
    if nulls == "broken":
        measures["missing"] = rows.count_if(field.value.isNull())

    def judge(measured: Measured) -> Judged:
        found = [value for index, value in enumerate(wanted) if measured[f"found{index}"]]
        others = [measured["first"], measured["last"]] if measured["others"] else []
        complete = not all_must_be or (attainable and len(found) == len(wanted))
        return Judged(
            holds=(others_may_be or not others) and complete and not measured.get("missing"),
            observed=[*found, *dict.fromkeys(others)],
            expected=f"{'all' if all_must_be else 'some'} of {wanted}"
            + (" and others" if others_may_be else " and no other"),
        )

    return Total(measures=measures, judge=judge)
