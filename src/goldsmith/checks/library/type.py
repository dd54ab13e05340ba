"""The column is of that type, or of one of those types.

Types go by Spark's names (bigint, string, decimal(10,2)) and by those of other tools
(LongType, INT64, VARCHAR); `decimal` alone is one of any precision."""

from __future__ import annotations

from collections.abc import Sequence

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.field import Field
from goldsmith.checks.measures import Judged, Known
from goldsmith.checks.schemas import same_type


@dataset_check(says="{column} is not of type {values}", cost=Cost.NOTHING)
def type(column: Field, values: str | Sequence[str]) -> Known:
    wanted = [values] if isinstance(values, str) else list(values)
    holds = any(same_type(column.type, one) for one in wanted)
    found = column.type.simpleString()
    return Known(judged=Judged(holds=holds, observed=found, expected=" or ".join(wanted)))
