"""An entry of a stage's partition_by is neither a column nor a transform of a column."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.partitions import partition_column
from goldsmith.planning.resolved_stage import stage_id


@catalog_rule(FindingSeverity.ERROR, reads=(Stage,))
def unknown_partition(rows: CatalogRows) -> Iterator[FoundProblem]:
    for stage in rows.rows(Stage):
        for expression in stage.partition_by:
            if partition_column(expression) is None:
                yield FoundProblem(
                    stage,
                    f"Stage {stage_id(stage)} partitions by '{expression}', which is neither a"
                    " column nor a transform.",
                    "Use a column, years(c), months(c), days(c), hours(c), bucket(n, c) or"
                    " truncate(n, c); one with a comma needs a JSON list.",
                )
