"""A stage reads a dataset of a later layer than its own, such as bronze reading gold."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import Gravity, Wrong, stage_rule
from goldsmith.planning.neighbourhood import Neighbourhood
from goldsmith.planning.words import LAYERS, layer_of, stage_id

_PLACES = {layer: place for place, layer in enumerate(LAYERS)}
_LAST = len(LAYERS) - 1


@stage_rule(Gravity.WARNING)
def layers_out_of_order(near: Neighbourhood) -> Iterator[Wrong]:
    own = _PLACES.get(near.words.layer, _LAST)
    if own == _LAST:
        return
    for dataset in near.inputs:
        for writer in dataset.writers:
            layer = layer_of(writer)
            if _PLACES.get(layer, -1) > own and writer is not near.stage:
                yield Wrong(
                    near.stage,
                    f"Stage {near.stage_id} is {near.words.layer} and reads '{dataset.dataset_id}',"
                    f" which stage {stage_id(writer)} writes in {layer}.",
                    "Set layer on the stage that has the wrong one, or read an earlier dataset.",
                )
                break
