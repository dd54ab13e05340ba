"""Let the target take new columns and wider types, unless somebody froze it.

A stage whose row says `freeze` is left alone unless `even_if_frozen` is set.
"""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy
def evolve_schema(failure: Failure, *, even_if_frozen: bool = False) -> Decision | None:
    said = failure.stage.get("schema_policy")
    if failure.adjusted.get("schema_policy") or said == "evolve":
        return None
    if said is not None and not even_if_frozen:
        return None
    differences = "; ".join(map(str, failure.facts.get("differences", ()))) or "it differs"
    because = f"the target's columns are evolved: {differences}"
    return rerun(because, after=0, schema_policy="evolve")
