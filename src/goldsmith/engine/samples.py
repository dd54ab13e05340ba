"""Some of the rows that break a check, for people to look at; personal data is masked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from goldsmith.catalog.datasets import Target
from goldsmith.checks.evaluate import Evaluation, Measured
from goldsmith.checks.keys import takes_part
from goldsmith.engine.destinations.destination import Samples
from goldsmith.engine.names import name
from goldsmith.engine.split import GOOD, SIDE, takes_rows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MASK = "***"
#: Rows of each check, and checks that are looked into.
_MOST_ROWS = 5
_MOST_CHECKS = 20


def personal(target: Target | None) -> frozenset[str]:
    """Columns that `options.pii` of a target names."""
    said = target.options.get("pii", ()) if target is not None else ()
    return frozenset(str(column).lower() for column in ([said] if isinstance(said, str) else said))


def look(
    evaluation: Evaluation,
    rows: DataFrame,
    measured: Mapping[str, Any],
    beside: Measured,
    repeats: Mapping[int, Column],
    *,
    hide: frozenset[str],
) -> Samples:
    """Some rows that break each check that found any, all in one job."""
    broken = {**evaluation.broken_rows(), **repeats}
    keys = evaluation.keys()
    plans: dict[int, DataFrame] = {}
    for outcome in evaluation.outcomes(measured, beside):
        place = outcome.planned.place
        if not outcome.broken or len(plans) == _MOST_CHECKS:
            continue
        if place in broken:
            apart = SIDE in rows.columns and takes_rows(outcome.planned)
            # What a check took out lies apart from the good rows, which are most.
            lying = rows.where(f"{SIDE} != {GOOD}") if apart else rows
            plans[place] = lying.where(broken[place])
        elif place in keys:
            columns, where = keys[place]
            held = {field.name: field.value for field in columns.fields}
            counted = rows.where(takes_part(columns, where)).select(
                *(value.alias(column) for column, value in held.items())
            )
            plans[place] = counted.groupBy(*map(name, held)).count().where("count > 1")
    return {place: found for place, found in _collect(plans, hide).items() if found}


def _collect(
    plans: Mapping[int, DataFrame], hide: frozenset[str]
) -> dict[int, list[Mapping[str, Any]]]:
    from pyspark.sql import functions as F

    if not plans:
        return {}
    told = [
        rows.limit(_MOST_ROWS).select(
            F.lit(place).alias("place"),
            F.to_json(F.struct(*_shown(rows, hide)), {"ignoreNullFields": "false"}).alias("row"),
        )
        for place, rows in plans.items()
    ]
    found: dict[int, list[Mapping[str, Any]]] = {}
    for place, text in reduce(lambda one, other: one.unionAll(other), told).collect():
        found.setdefault(place, []).append(json.loads(text))
    return found


def _shown(rows: DataFrame, hide: frozenset[str]) -> Sequence[Column]:
    from pyspark.sql import functions as F

    return [
        F.when(F.col(name(column)).isNotNull(), MASK).alias(column)
        if column.lower().split(".")[0] in hide
        else F.col(name(column))
        for column in rows.columns
        if not column.startswith("_goldsmith_")
    ]
