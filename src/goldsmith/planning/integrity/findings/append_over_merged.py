"""A stage appends what is new of an input whose rows change: they would be appended again each
time."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import Gravity, Wrong, stage_rule
from goldsmith.planning.integrity.nearby import part_read
from goldsmith.planning.neighbourhood import Neighbourhood
from goldsmith.planning.words import stage_id, write_mode_of


@stage_rule(Gravity.ERROR)
def append_over_merged(near: Neighbourhood) -> Iterator[Wrong]:
    if near.words.write_mode != "append":
        return
    dataset = part_read(near)
    if dataset is None:
        return
    for writer in dataset.writers:
        mode = write_mode_of(writer)
        if mode != "append" and writer.enabled and writer is not near.stage:
            yield Wrong(
                near.stage,
                f"Stage {near.stage_id} appends from '{dataset.dataset_id}', which stage"
                f" {stage_id(writer)} writes by {mode}: changed rows would come twice.",
                "Merge by keys (write_mode: merge), overwrite, or append all of it each time"
                " (options.read: all).",
            )
            return
