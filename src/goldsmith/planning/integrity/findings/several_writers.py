"""Several enabled stages write one dataset in write modes that do not conflict; they take turns."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.stage_questions import modes_fight, rival_writers
from goldsmith.planning.resolved_stage import stage_id, write_mode_of


@catalog_rule(FindingSeverity.WARNING, reads=(Stage, Pipeline))
def several_writers(rows: CatalogRows) -> Iterator[FoundProblem]:
    for target, stages in rival_writers(rows).items():
        if not modes_fight(stages):
            writers = ", ".join(f"{stage_id(stage)} by {write_mode_of(stage)}" for stage in stages)
            yield FoundProblem(
                stages[-1],
                f"Several stages write '{target}': {writers}.",
                "Nothing to do if that is meant: they take turns. Else correct a target_id.",
            )
