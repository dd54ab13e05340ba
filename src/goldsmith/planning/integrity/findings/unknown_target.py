"""A stage's target_id has no row in targets, so the location to write to is not known."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.resolved_stage import stage_id


@catalog_rule(FindingSeverity.ERROR, reads=(Stage, Source, Target))
def unknown_target(rows: CatalogRows) -> Iterator[FoundProblem]:
    targets = rows.table(Target)
    for name, stages in rows.writers_of.items():
        if (name,) in targets:
            continue
        is_source = name in rows.dataset_ids
        guess = "" if is_source else did_you_mean(name, rows.dataset_ids)
        for stage in stages:
            yield FoundProblem(
                stage,
                f"Stage {stage_id(stage)} writes '{name}', which has no row in targets"
                f"{' (it has one in sources)' if is_source else ''}.",
                f"{guess}Add a row to targets with its location and type, or correct target_id.",
            )
