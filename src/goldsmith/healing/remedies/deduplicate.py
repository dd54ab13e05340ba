"""Keep one row of each key, the newest by the stage's watermark."""

from __future__ import annotations

from collections.abc import Sequence

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy(loosens="drops all but the newest row of each key")
def deduplicate(failure: Failure, *, keys: Sequence[str] | None = None) -> Decision | None:
    by = list(keys or failure.stage.get("keys", ()))
    if not by or failure.adjusted.get("deduplicate"):
        return None
    because = f"one row of each {', '.join(by)} is kept"
    return rerun(because, after=0, deduplicate=by)
