"""Stages write one lake target in different layers, so its rows would be in several tables."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Target
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.resolved_stage import is_lake, layer_of, stage_id


@catalog_rule(FindingSeverity.ERROR, reads=(Target, Stage))
def writers_in_different_layers(rows: CatalogRows) -> Iterator[FoundProblem]:
    for target_id, stages in rows.writers_of.items():
        if len({layer_of(stage) for stage in stages}) < 2:
            continue
        target = rows.get(Target, target_id)
        if target is not None and not is_lake(target):
            continue
        pairs = ", ".join(f"{stage_id(stage)} in {layer_of(stage)}" for stage in stages)
        for stage in stages:
            yield FoundProblem(
                stage,
                f"Stages write '{target_id}' in different layers: {pairs}. Each layer is a table of"
                " its own, and readers see only the first.",
                "Set `layer` of these stages to the same word.",
            )
