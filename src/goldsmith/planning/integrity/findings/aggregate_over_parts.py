"""A stage aggregates (GROUP BY, DISTINCT, LIMIT or a total) over an input of which it reads only
new rows, so its totals would cover only those."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.integrity.stage_questions import part_read
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.ERROR)
def aggregate_over_parts(context: StageContext) -> Iterator[FoundProblem]:
    facts = context.facts
    if facts is None or not facts.aggregates:
        return
    dataset = part_read(context)
    if dataset is not None and context.stage.options.get("partial") != "ok":
        yield FoundProblem(
            context.stage,
            f"Stage {context.stage_id} aggregates (GROUP BY, DISTINCT, LIMIT or a total) over"
            f" '{dataset.dataset_id}', of which it reads only what is new.",
            "Read everything (write_mode: overwrite, or options.read: all); options.partial: ok"
            " says that totals of a part are meant.",
        )
