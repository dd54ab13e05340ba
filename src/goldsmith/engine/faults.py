"""Points where a test may end the process, by name: every line is the one where it is killed.

`GOLDSMITH_FAULT=after-write` kills this process with SIGKILL when it gets there;
`after-write:2` at the second time; `after-write:freeze` stops it as SIGSTOP does.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

#: Every point, in the order a stage run meets them.
POINTS = (
    "taken",
    "leased",
    "started",
    "resolved",
    "inputs-listed",
    "inputs-noted",
    "read",
    "shaped",
    "table-made",
    "schema-changed",
    "branch-made",
    "quarantine-written",
    "written-half",
    "written",
    "audited",
    "verdicts-noted",
    "before-publish",
    "published",
    "branch-dropped",
    "inputs-counted",
    "recorded",
    "lease-released",
    "staged",
    "staging-table-made",
    "warehouse-copied",
    "warehouse-merged",
    "warehouse-ledger-written",
    "warehouse-committed",
    "staging-removed",
    "run-finished",
    "healing-decided",
    "healing-written",
    "request-done",
)

_reached: Counter[str] = Counter()


def reach(point: str) -> None:
    """A point a test may have asked to be killed at."""
    asked = os.environ.get("GOLDSMITH_FAULT")
    if asked is None:
        return
    name, _, how = asked.partition(":")
    if name != point:
        return
    _reached[point] += 1
    if how == "freeze":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif _reached[point] == int(how or 1):
        os.kill(os.getpid(), signal.SIGKILL)
