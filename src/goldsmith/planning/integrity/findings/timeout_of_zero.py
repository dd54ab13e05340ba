"""A stage's timeout is zero seconds, so the stage would time out at once."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.resolved_stage import stage_id


@catalog_rule(FindingSeverity.WARNING, reads=(Stage,))
def timeout_of_zero(rows: CatalogRows) -> Iterator[FoundProblem]:
    for stage in rows.rows(Stage):
        if stage.timeout_sec == 0:
            yield FoundProblem(
                stage,
                f"Stage {stage_id(stage)} has a timeout of 0 seconds.",
                "Leave timeout_sec empty for no limit, or give it seconds.",
            )
