"""Several enabled stages write one dataset in conflicting write modes: overwrite with any other
writer, or scd2 with another mode."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.stage_questions import modes_fight, rival_writers
from goldsmith.planning.resolved_stage import stage_id, write_mode_of

_RENUMBERED = (
    "Where a stage was renumbered in the files its old row is still there: `goldsmith diff --prune`"
    " with all catalog files shows what `apply --prune` would remove; no data is deleted."
)


@catalog_rule(FindingSeverity.ERROR, reads=(Stage, Pipeline))
def fighting_writers(rows: CatalogRows) -> Iterator[FoundProblem]:
    for target, stages in rival_writers(rows).items():
        if not modes_fight(stages):
            continue
        writers = ", ".join(f"{stage_id(stage)} by {write_mode_of(stage)}" for stage in stages)
        hint = "Give each a target of its own, disable all but one, or let all append or merge."
        if len({stage.pipeline_id for stage in stages}) < len(stages):
            hint = f"{_RENUMBERED} {hint}"
        for stage in stages:
            yield FoundProblem(
                stage, f"Stages that undo each other's work write '{target}': {writers}.", hint
            )
