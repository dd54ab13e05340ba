"""Several enabled stages write one dataset; their modes do not fight, and they take turns."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.nearby import modes_fight, rival_writers
from goldsmith.planning.words import stage_id, write_mode_of


@catalog_rule(Gravity.WARNING, reads=(Stage, Pipeline))
def several_writers(rows: Snapshot) -> Iterator[Wrong]:
    for target, stages in rival_writers(rows).items():
        if not modes_fight(stages):
            said = ", ".join(f"{stage_id(stage)} by {write_mode_of(stage)}" for stage in stages)
            yield Wrong(
                stages[-1],
                f"Several stages write '{target}': {said}.",
                "Nothing to do if that is meant: they take turns. Else correct a target_id.",
            )
