"""A stage reads a dataset that no stage writes and that has no files of its own."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import Gravity, Wrong, stage_rule
from goldsmith.planning.neighbourhood import Neighbourhood


@stage_rule(Gravity.WARNING)
def reads_what_nothing_writes(near: Neighbourhood) -> Iterator[Wrong]:
    for dataset in near.inputs:
        if not dataset.writers and dataset.source is None and dataset.target is not None:
            yield Wrong(
                near.stage,
                f"Stage {near.stage_id} reads '{dataset.dataset_id}', which no stage writes; it has"
                " a row in targets and none in sources.",
                "Add the stage that writes it, or a row in sources saying where its files lie;"
                " nothing to do if others fill that table.",
            )
