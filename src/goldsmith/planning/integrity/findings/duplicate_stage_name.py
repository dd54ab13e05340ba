"""Two stages of one pipeline have the same name, so the name means neither."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.words import stage_id


@catalog_rule(Gravity.ERROR, reads=(Stage,))
def duplicate_stage_name(rows: Snapshot) -> Iterator[Wrong]:
    for stages in rows.stages_of.values():
        if len({stage.stage_name for stage in stages}) == len(stages):
            continue
        seen: dict[str, Stage] = {}
        for stage in stages:
            if stage.stage_name is None:
                continue
            first = seen.setdefault(stage.stage_name, stage)
            if first is not stage:
                yield Wrong(
                    stage,
                    f"Stages {stage_id(first)} and {stage_id(stage)} are both called"
                    f" '{stage.stage_name}'.",
                    "Give one of them another stage_name.",
                )
