"""Read fewer files at once, a quarter as many each time; later requests read the rest."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.memory import SMALL
from goldsmith.healing.remedy import remedy

_FIRST = 64


@remedy
def smaller_batches(failure: Failure, *, files_at_once: int = _FIRST) -> Decision | None:
    if failure.stage.get("read", "new") != "new":
        return None  # a stage that reads all rows cannot read them in batches
    before = failure.adjusted.get("files_at_once")
    fewer = files_at_once if before is None else max(int(before) // 4, 1)
    if before is not None and fewer >= int(before):
        return None
    because = f"{fewer} files are read at once, the rest after them"
    return rerun(because, after=0, files_at_once=fewer, spark=SMALL)
