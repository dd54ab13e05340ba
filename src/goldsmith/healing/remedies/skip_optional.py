"""Skip the stage if its row has `options: {optional: true}`."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, DecisionKind, Failure
from goldsmith.healing.remedy import remedy


@remedy
def skip_optional(failure: Failure) -> Decision | None:
    if not failure.stage.get("options", {}).get("optional"):
        return None
    because = f"the stage is optional and failed with {failure.code}"
    return Decision(do=DecisionKind.SKIP, because=because, adjust={"skip": because})
