"""The time limit of a stage."""

from __future__ import annotations

import threading

from goldsmith.engine.failures import StageTimeout
from goldsmith.engine.work import Work


class limit:  # noqa: N801 - reads as a word in a with statement
    """Ends a stage that takes longer than its row allows."""

    def __init__(self, work: Work) -> None:
        seconds = work.near.stage.timeout_sec
        self._timer = None
        if seconds is not None:
            late = StageTimeout(stage=work.near.stage_id, seconds=seconds)
            self._timer = threading.Timer(seconds, work.ended.order, args=(late,))

    def __enter__(self) -> None:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def __exit__(self, *_error: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
