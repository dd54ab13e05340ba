"""A stage's keys, watermark or partitions name a column that its SQL does not give."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import Gravity, Wrong, stage_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.integrity.nearby import columns_of, lacks
from goldsmith.planning.integrity.partitions import partition_column
from goldsmith.planning.neighbourhood import Neighbourhood


@stage_rule(Gravity.ERROR)
def column_not_in_sql(near: Neighbourhood) -> Iterator[Wrong]:
    facts, stage = near.facts, near.stage
    if facts is None or facts.columns is None:
        return
    for key in stage.keys:
        if lacks(near, key):
            yield _wrong(near, f"has the key '{key}'", key)
    watermark = stage.watermark_column
    if watermark is not None and lacks(near, watermark):
        yield _wrong(near, f"has the watermark '{watermark}'", watermark)
    for expression in stage.partition_by:
        column = partition_column(expression)
        if column is not None and lacks(near, column):
            yield _wrong(near, f"partitions by '{expression}'", column)


def _wrong(near: Neighbourhood, what: str, column: str) -> Wrong:
    given = (near.facts and near.facts.columns) or ()
    return Wrong(
        near.stage,
        f"Stage {near.stage_id} {what}, and its SQL gives no column '{column}'.",
        f"{did_you_mean(column, given)}It gives: {columns_of(near)}.",
    )
