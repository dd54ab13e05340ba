"""Sample rows that break a check; personal data is masked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from goldsmith.checks.evaluate import Evaluation, Measured
from goldsmith.checks.keys import takes_part
from goldsmith.engine.names import name
from goldsmith.engine.personal_data import masked
from goldsmith.engine.quarantine.row_router import GOOD, ROUTE, takes_rows
from goldsmith.engine.write.destinations.destination import Samples

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Rows per check, and checks that are sampled.
_MOST_ROWS = 5
_MOST_CHECKS = 20


def sample_broken_rows(
    evaluation: Evaluation,
    rows: DataFrame,
    measured: Mapping[str, Any],
    beside: Measured,
    repeats: Mapping[int, Column],
    *,
    hide: frozenset[str],
) -> Samples:
    """Sample the rows that break each check, in one job."""
    broken = {**evaluation.broken_rows(), **repeats}
    keys = evaluation.keys()
    plans: dict[int, DataFrame] = {}
    for outcome in evaluation.outcomes(measured, beside):
        index = outcome.planned.index
        if not outcome.broken or len(plans) == _MOST_CHECKS:
            continue
        if index in broken:
            is_routed = ROUTE in rows.columns and takes_rows(outcome.planned)
            # Routed rows are staged apart from the good rows, which are most.
            candidates = rows.where(f"{ROUTE} != {GOOD}") if is_routed else rows
            plans[index] = candidates.where(broken[index])
        elif index in keys:
            columns, where = keys[index]
            key_values = {field.name: field.value for field in columns.fields}
            counted = rows.where(takes_part(columns, where)).select(
                *(value.alias(column) for column, value in key_values.items())
            )
            plans[index] = counted.groupBy(*map(name, key_values)).count().where("count > 1")
    return {index: found for index, found in _collect(plans, hide).items() if found}


def _collect(
    plans: Mapping[int, DataFrame], hide: frozenset[str]
) -> dict[int, list[Mapping[str, Any]]]:
    from pyspark.sql import functions as F

    if not plans:
        return {}
    sampled = [
        rows.limit(_MOST_ROWS).select(
            F.lit(index).alias("place"),
            F.to_json(F.struct(*_shown(rows)), {"ignoreNullFields": "false"}).alias("row"),
        )
        for index, rows in plans.items()
    ]
    found: dict[int, list[Mapping[str, Any]]] = {}
    for index, text in reduce(lambda left, right: left.unionAll(right), sampled).collect():
        found.setdefault(index, []).append(masked(json.loads(text), hide))
    return found


def _shown(rows: DataFrame) -> Sequence[Column]:
    from pyspark.sql import functions as F

    return [F.col(name(column)) for column in rows.columns if not column.startswith("_goldsmith_")]
