"""Hold the stage and open an incident for a person to resolve."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, DecisionKind, Failure
from goldsmith.healing.remedy import remedy


@remedy
def open_incident(failure: Failure) -> Decision | None:
    return Decision(do=DecisionKind.HOLD, because=f"{failure.code} needs a person")
