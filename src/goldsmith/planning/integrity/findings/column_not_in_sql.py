"""A stage's keys, watermark or partitions name a column that its SQL does not select."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.integrity.partitions import partition_column
from goldsmith.planning.integrity.stage_questions import columns_of, lacks
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.ERROR)
def column_not_in_sql(context: StageContext) -> Iterator[FoundProblem]:
    facts, stage = context.facts, context.stage
    if facts is None or facts.columns is None:
        return
    for key in stage.keys:
        if lacks(context, key):
            yield _wrong(context, f"has the key '{key}'", key)
    watermark = stage.watermark_column
    if watermark is not None and lacks(context, watermark):
        yield _wrong(context, f"has the watermark '{watermark}'", watermark)
    for expression in stage.partition_by:
        column = partition_column(expression)
        if column is not None and lacks(context, column):
            yield _wrong(context, f"partitions by '{expression}'", column)


def _wrong(context: StageContext, what: str, column: str) -> FoundProblem:
    given = (context.facts and context.facts.columns) or ()
    return FoundProblem(
        context.stage,
        f"Stage {context.stage_id} {what}, and its SQL gives no column '{column}'.",
        f"{did_you_mean(column, given)}It gives: {columns_of(context)}.",
    )
