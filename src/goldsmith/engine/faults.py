"""Fault points: named points at which a test can kill or pause the process.

`GOLDSMITH_FAULT=written` kills this process with SIGKILL at the point `written`; `written:2` kills
it there the second time; `written:hold=FILE` creates FILE and waits until the file is deleted.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path

#: Every point, in the order of a run; some are reached only by lake targets, some only by
#: warehouse targets.
POINTS = (
    "requested",
    "taken",
    "run-started",
    "leased",
    "settle-cleaned",
    "settle-checked",
    "settled",
    "inputs-listed",
    "started",
    "inputs-noted",
    "tokens-taken",
    "micro-batch-read",
    "read",
    "shaped",
    "replay-marked",
    "table-made",
    "schema-changed",
    "branch-made",
    "rows-routed",
    "broken-quarantined",
    "rows-taken-back",
    "staged",
    "written",
    "quarantine-written",
    "audited",
    "verdicts-noted",
    "before-publish",
    "staging-table-made",
    "micro-batch-loaded",
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
    """Kill or pause the process if GOLDSMITH_FAULT names this point."""
    fault = os.environ.get("GOLDSMITH_FAULT")
    if fault is None:
        return
    name, _, how = fault.partition(":")
    if name != point:
        return
    _reached[point] += 1
    if how.startswith("hold="):
        _hold(Path(how.removeprefix("hold=")))
    elif _reached[point] == int(how or 1):
        os.kill(os.getpid(), signal.SIGKILL)


def _hold(file: Path) -> None:
    file.touch()
    while file.exists():
        time.sleep(0.01)
