"""Two stages of one pipeline have the same stage_name, so the name is ambiguous."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.resolved_stage import stage_id


@catalog_rule(FindingSeverity.ERROR, reads=(Stage,))
def duplicate_stage_name(rows: CatalogRows) -> Iterator[FoundProblem]:
    for stages in rows.stages_of.values():
        if len({stage.stage_name for stage in stages}) == len(stages):
            continue
        seen: dict[str, Stage] = {}
        for stage in stages:
            if stage.stage_name is None:
                continue
            first = seen.setdefault(stage.stage_name, stage)
            if first is not stage:
                yield FoundProblem(
                    stage,
                    f"Stages {stage_id(first)} and {stage_id(stage)} are both called"
                    f" '{stage.stage_name}'.",
                    "Give one of them another stage_name.",
                )
