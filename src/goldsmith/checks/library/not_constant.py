"""The column has at least two distinct values; a column without values passes."""

from __future__ import annotations

from goldsmith.checks.check import dataset_check
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Judged, Total


@dataset_check(says="{column} is the same everywhere")
def not_constant(column: Plain) -> Total:
    from pyspark.sql import functions as F

    value = column.value
    return Total(
        measures={"smallest": F.min(value), "same": F.min(value) == F.max(value)},
        judge=lambda measured: Judged(
            holds=not measured["same"], observed=measured["smallest"], expected="several values"
        ),
    )
