"""A stage's transform_dialect is not a known SQL dialect."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import DIALECTS, did_you_mean, is_dialect
from goldsmith.planning.resolved_stage import stage_id


@catalog_rule(FindingSeverity.ERROR, reads=(Stage,))
def unknown_dialect(rows: CatalogRows) -> Iterator[FoundProblem]:
    for stage in rows.rows(Stage):
        dialect = stage.transform_dialect
        if dialect is not None and not is_dialect(dialect):
            yield FoundProblem(
                stage,
                f"Stage {stage_id(stage)} has SQL in the dialect '{dialect}', which is not known.",
                f"{did_you_mean(dialect, DIALECTS)}Known: {', '.join(DIALECTS)}.",
            )
