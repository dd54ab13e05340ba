"""A stage's partition_by holds something that is neither a column nor a transform of one."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.partitions import partition_column
from goldsmith.planning.words import stage_id


@catalog_rule(Gravity.ERROR, reads=(Stage,))
def unknown_partition(rows: Snapshot) -> Iterator[Wrong]:
    for stage in rows.rows(Stage):
        for expression in stage.partition_by:
            if partition_column(expression) is None:
                yield Wrong(
                    stage,
                    f"Stage {stage_id(stage)} partitions by '{expression}', which is neither a"
                    " column nor a transform.",
                    "Use a column, years(c), months(c), days(c), hours(c), bucket(n, c) or"
                    " truncate(n, c); one with a comma needs a JSON list.",
                )
