"""A stage uses a window function over an input of which it reads only new rows, so a window does
not include older rows."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.integrity.stage_questions import part_read
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.WARNING)
def window_over_parts(context: StageContext) -> Iterator[FoundProblem]:
    facts = context.facts
    if facts is None or not facts.windows:
        return
    dataset = part_read(context)
    if dataset is not None and context.stage.options.get("partial") != "ok":
        yield FoundProblem(
            context.stage,
            f"Stage {context.stage_id} uses a window over '{dataset.dataset_id}', of which it"
            " reads only what is new.",
            "Read everything (options.read: all) if the window needs older rows;"
            " options.partial: ok says that it does not.",
        )
