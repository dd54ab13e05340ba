"""A stage's layer looks like a misspelt bronze, silver or gold; it would be a layer of its own."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.errors import nearest
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.resolved_stage import LAYERS
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.WARNING)
def unknown_layer(context: StageContext) -> Iterator[FoundProblem]:
    layer = context.stage.layer
    if layer is None or layer in LAYERS:
        return
    meant = nearest(layer, LAYERS)
    if meant is not None:
        yield FoundProblem(
            context.stage,
            f"Stage {context.stage_id} has the layer '{layer}', which is none of"
            f" {', '.join(LAYERS)}.",
            f"Did you mean '{meant}'? A layer of another name has tables of its own and none of"
            f" {meant}'s defaults.",
        )
