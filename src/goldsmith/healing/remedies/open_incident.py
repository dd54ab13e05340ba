"""Hold the stage and open an incident: a person has to look."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Do, Failure
from goldsmith.healing.remedy import remedy


@remedy
def open_incident(failure: Failure) -> Decision | None:
    return Decision(do=Do.HOLD, because=f"{failure.code} needs a person")
