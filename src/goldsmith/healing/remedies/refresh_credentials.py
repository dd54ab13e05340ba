"""Look up all credentials again and try again with a new session and new connections."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy
def refresh_credentials(failure: Failure, *, limit: int = 2) -> Decision | None:
    if failure.uses >= limit:
        return None
    return rerun("credentials are looked up again", fresh=True)
