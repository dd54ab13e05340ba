"""Let the target take new columns and wider types.

A stage whose row has a schema policy is left alone, unless `even_if_frozen` is set or the row
itself names `evolve_schema` in `options.remedies`.
"""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy
from goldsmith.planning.integrity.remedies import allowed_by

_EVOLVES = {"columns": "evolve", "types": "evolve"}


@remedy(loosens="evolves the target's columns where the schema policy refuses to")
def evolve_schema(failure: Failure, *, even_if_frozen: bool = False) -> Decision | None:
    policy, options = failure.stage.get("schema_policy"), failure.stage.get("options", {})
    in_force = failure.stage.get("schema_policy_in_force") or policy
    if failure.adjusted.get("schema_policy") or in_force in ("evolve", _EVOLVES):
        return None
    if policy is not None and not even_if_frozen and "evolve_schema" not in allowed_by(options):
        return None
    differences = "; ".join(map(str, failure.facts.get("differences", ()))) or "it differs"
    because = f"the target's columns are evolved: {differences}"
    return rerun(because, after=0, schema_policy="evolve")
