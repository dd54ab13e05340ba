"""A stage reads a dataset of a later layer than its own, such as bronze reading gold."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.resolved_stage import LAYERS, layer_of, stage_id
from goldsmith.planning.stage_context import StageContext

_RANKS = {layer: rank for rank, layer in enumerate(LAYERS)}
_LAST = len(LAYERS) - 1


@stage_rule(FindingSeverity.WARNING)
def layers_out_of_order(context: StageContext) -> Iterator[FoundProblem]:
    own = _RANKS.get(context.resolved.layer, _LAST)
    if own == _LAST:
        return
    for dataset in context.inputs:
        for writer in dataset.writers:
            layer = layer_of(writer)
            if _RANKS.get(layer, -1) > own and writer is not context.stage:
                yield FoundProblem(
                    context.stage,
                    f"Stage {context.stage_id} is {context.resolved.layer} and reads"
                    f" '{dataset.dataset_id}', which stage {stage_id(writer)} writes in {layer}.",
                    "Set layer on the stage that has the wrong one, or read an earlier dataset.",
                )
                break
