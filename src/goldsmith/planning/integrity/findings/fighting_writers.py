"""Several enabled stages write one dataset in ways that undo each other: an overwrite beside any
other writer, or scd2 beside another mode."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.nearby import modes_fight, rival_writers
from goldsmith.planning.words import stage_id, write_mode_of


@catalog_rule(Gravity.ERROR, reads=(Stage, Pipeline))
def fighting_writers(rows: Snapshot) -> Iterator[Wrong]:
    for target, stages in rival_writers(rows).items():
        if not modes_fight(stages):
            continue
        said = ", ".join(f"{stage_id(stage)} by {write_mode_of(stage)}" for stage in stages)
        for stage in stages:
            yield Wrong(
                stage,
                f"Stages that undo each other's work write '{target}': {said}.",
                "Give each a target of its own, disable all but one, or let all of them append or"
                " merge.",
            )
