"""The column has that type, or one of those types.

Types have Spark's names (bigint, string, decimal(10,2)) or those of other tools (LongType, INT64,
VARCHAR); `decimal` alone means any precision."""

from __future__ import annotations

from collections.abc import Sequence

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.field import Field
from goldsmith.checks.measures import Judged, KnownTotals
from goldsmith.checks.schemas import same_type


@dataset_check(says="{column} is not of type {values}", cost=Cost.NOTHING)
def type(column: Field, values: str | Sequence[str]) -> KnownTotals:
    wanted = [values] if isinstance(values, str) else list(values)
    holds = any(same_type(column.type, name) for name in wanted)
    found = column.type.simpleString()
    return KnownTotals(judged=Judged(holds=holds, observed=found, expected=" or ".join(wanted)))
