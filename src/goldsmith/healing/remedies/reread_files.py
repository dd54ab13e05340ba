"""List the files again and retry: a listed file was deleted before it was read."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy
def reread_files(failure: Failure, *, wait_seconds: float = 0) -> Decision | None:
    gone = failure.facts.get("file", "a file")
    return rerun(f"{gone} vanished; the files are listed anew", after=wait_seconds)
