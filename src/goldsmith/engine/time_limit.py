"""The time limit of a stage."""

from __future__ import annotations

import threading

from goldsmith.engine.attempt import Attempt
from goldsmith.engine.failures import StageTimeout


class time_limit:  # noqa: N801 - reads as a function in a with statement
    """Cancel an attempt that runs longer than the stage's `timeout_sec`."""

    def __init__(self, attempt: Attempt) -> None:
        seconds = attempt.context.stage.timeout_sec
        self._timer = None
        if seconds is not None:
            late = StageTimeout(stage=attempt.context.stage_id, seconds=seconds)
            self._timer = threading.Timer(seconds, attempt.cancel.order, args=(late,))

    def __enter__(self) -> None:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def __exit__(self, *_error: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
