"""A stage's SQL needs all rows of an input, for example for a self-join, but the stage reads only
new rows: rows of different loads are never joined. Or the SQL, or a UNION branch of it, does not
read the input, so its rows would be appended with every load."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.integrity.stage_questions import part_read
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.ERROR)
def join_over_parts(context: StageContext) -> Iterator[FoundProblem]:
    facts, dataset = context.facts, part_read(context)
    if facts is None or dataset is None or context.stage.options.get("partial") == "ok":
        return
    if dataset.dataset_id in facts.whole:
        why = facts.whole_because[facts.whole.index(dataset.dataset_id)]
        yield FoundProblem(
            context.stage,
            f"The SQL of stage {context.stage_id} {why}: '{dataset.dataset_id}', of which the stage"
            " reads only what is new.",
            "Read everything (write_mode: overwrite, or options.read: all); options.partial: ok"
            " says that only rows of one load are meant to meet.",
        )
        return
    reads = dataset.dataset_id in facts.reads
    if (reads and dataset.dataset_id not in facts.beside) or facts.error is not None:
        return
    if context.resolved.appends:
        what, advice = "does not read", "Name it in the FROM"
        if reads:
            what = "has a UNION branch that does not read"
            advice = "Write each branch by a stage of its own"
        yield FoundProblem(
            context.stage,
            f"The SQL of stage {context.stage_id} {what} '{dataset.dataset_id}': its rows would be"
            " appended again with every load.",
            f"{advice}, or overwrite (write_mode: overwrite) or merge by keys (write_mode: merge).",
        )
