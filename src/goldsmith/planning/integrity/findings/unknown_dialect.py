"""A stage's SQL is said to be in a dialect that nobody here can read."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.known import DIALECTS, did_you_mean, is_dialect
from goldsmith.planning.words import stage_id


@catalog_rule(Gravity.ERROR, reads=(Stage,))
def unknown_dialect(rows: Snapshot) -> Iterator[Wrong]:
    for stage in rows.rows(Stage):
        dialect = stage.transform_dialect
        if dialect is not None and not is_dialect(dialect):
            yield Wrong(
                stage,
                f"Stage {stage_id(stage)} has SQL in the dialect '{dialect}', which is not known.",
                f"{did_you_mean(dialect, DIALECTS)}Known: {', '.join(DIALECTS)}.",
            )
