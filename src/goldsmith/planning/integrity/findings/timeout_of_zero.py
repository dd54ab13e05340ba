"""A stage's timeout is zero seconds, so it would end before it began."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.words import stage_id


@catalog_rule(Gravity.WARNING, reads=(Stage,))
def timeout_of_zero(rows: Snapshot) -> Iterator[Wrong]:
    for stage in rows.rows(Stage):
        if stage.timeout_sec == 0:
            yield Wrong(
                stage,
                f"Stage {stage_id(stage)} has a timeout of 0 seconds.",
                "Leave timeout_sec empty for no limit, or give it seconds.",
            )
