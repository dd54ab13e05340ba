"""Read another dataset in place of the stage's source, along a lineage edge.

The dataset that could not be read counts as down from now on; the next attempt takes the cheapest
healthy way. A stage whose target no other edge of `dataset_lineage` leads to is left to the next
remedy, as after `limit` uses.
"""

from __future__ import annotations

from datetime import timedelta

from goldsmith.healing.failure import Decision, DecisionKind, Failure
from goldsmith.healing.remedy import remedy


@remedy
def reroute(failure: Failure, *, limit: int = 2) -> Decision | None:
    others, read = failure.stage.get("other_sources"), failure.stage.get("read_from")
    if not others or read is None or failure.uses >= limit:
        return None
    return Decision(
        do=DecisionKind.RERUN,
        because=f"{read} cannot be read; the next attempt takes the cheapest healthy way",
        after=timedelta(),
        marks_down=str(read),
    )
