"""Run a script or a command and do what it answers.

It gets the failure as JSON on standard input, no shell and a time limit. Its environment is `PATH`,
`HOME`, `LANG` and the variables in `environment`: values, or references to secrets (`env:NAME`).
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping

from goldsmith.credentials import is_reference
from goldsmith.healing.answer import BadAnswer, decision_of
from goldsmith.healing.failure import Decision, Failure
from goldsmith.healing.remedy import RemedyContext, RemedyStopped, remedy

_KEPT = ("PATH", "HOME", "LANG")
#: How often the remedy looks for a stop while the script runs.
_LOOK_SECONDS = 0.2


@remedy
def script(
    failure: Failure,
    *,
    outside: RemedyContext,
    action: str,
    seconds: float = 60,
    environment: Mapping[str, str] | None = None,
) -> Decision | None:
    request = json.dumps(failure.as_plain(), default=str)
    try:
        arguments = shlex.split(action)
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            cwd=outside.folder,
            env=_environment(environment or {}, outside),
            # A session of its own, so that its children are killed with it.
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise BadAnswer(remedy=action, cause=f"it cannot be run ({error})") from error
    try:
        out, problems = _talk(process, request, action, seconds, outside)
    finally:
        _end(process)
    if process.returncode != 0:
        last = outside.secrets.redact(problems.strip())[-500:]
        raise BadAnswer(remedy=action, cause=f"it ended with {process.returncode}: {last}")
    return decision_of(out, action, outside.secrets.redact)


def _talk(
    process: subprocess.Popen[str],
    request: str,
    action: str,
    seconds: float,
    outside: RemedyContext,
) -> tuple[str, str]:
    """The output and the errors of the script; raises if it takes too long or the stage stops."""
    until = time.monotonic() + seconds
    given: str | None = request
    while True:
        left = until - time.monotonic()
        try:
            return process.communicate(given, timeout=max(0.0, min(left, _LOOK_SECONDS)))
        except subprocess.TimeoutExpired as error:
            given = None  # the input was already sent
            because = outside.stopped()
            if because is not None:
                raise RemedyStopped(because) from error
            if left <= 0:
                cause = f"it took longer than {seconds:g} s"
                raise BadAnswer(remedy=action, cause=cause) from error


def _environment(given: Mapping[str, str], outside: RemedyContext) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    for name, value in given.items():
        text = str(value)
        kept[name] = outside.secrets.resolve(text).reveal() if is_reference(text) else text
    return kept


def _end(process: subprocess.Popen[str]) -> None:
    """Kill the script and its children if they still run."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with process:
        pass
