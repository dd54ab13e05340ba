"""Points where a test may end the process, by name: every line is the one where it is killed.

`GOLDSMITH_FAULT=after-write` kills this process with SIGKILL when it gets there;
`after-write:2` at the second time; `after-write:freeze` stops it as SIGSTOP does;
`after-write:hold=FILE` makes FILE and goes on once somebody has taken it away.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path

#: Every point, in the order a run meets them; a stage in the lake meets some, one in a warehouse
#: others.
POINTS = (
    "asked",
    "taken",
    "run-started",
    "leased",
    "settle-cleaned",
    "settle-asked",
    "settled",
    "inputs-listed",
    "started",
    "inputs-noted",
    "read",
    "shaped",
    "replay-marked",
    "table-made",
    "schema-changed",
    "branch-made",
    "rows-parted",
    "broken-kept",
    "rows-taken-back",
    "staged",
    "written",
    "quarantine-written",
    "audited",
    "verdicts-noted",
    "before-publish",
    "staging-table-made",
    "warehouse-copied",
    "warehouse-merged",
    "warehouse-ledger-written",
    "warehouse-committed",
    "staging-removed",
    "published",
    "branch-dropped",
    "staged-removed",
    "inputs-counted",
    "recorded",
    "lease-released",
    "stopping",
    "stop-cleaned",
    "stop-recorded",
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
    if how.startswith("hold="):
        _hold(Path(how.removeprefix("hold=")))
    elif how == "freeze":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif _reached[point] == int(how or 1):
        os.kill(os.getpid(), signal.SIGKILL)


def _hold(file: Path) -> None:
    file.touch()
    while file.exists():
        time.sleep(0.01)
