"""Run a script or a command and do what it answers.

It gets the failure as JSON on standard input, no shell, a time limit, and of the environment only
`PATH`, `HOME`, `LANG` and what `environment` names: values, or where secrets are kept (`env:NAME`).
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
from goldsmith.healing.remedy import Outside, RemedyStopped, remedy

_KEPT = ("PATH", "HOME", "LANG")
#: How often a stop is looked for while it works.
_LOOK_SECONDS = 0.2


@remedy
def script(
    failure: Failure,
    *,
    outside: Outside,
    action: str,
    seconds: float = 60,
    environment: Mapping[str, str] | None = None,
) -> Decision | None:
    said = json.dumps(failure.as_plain(), default=str)
    try:
        words = shlex.split(action)
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            cwd=outside.folder,
            env=_environment(environment or {}, outside),
            # Its children end with it.
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise BadAnswer(remedy=action, cause=f"it cannot be run ({error})") from error
    try:
        out, problems = _talk(process, said, action, seconds, outside)
    finally:
        _end(process)
    if process.returncode != 0:
        last = outside.secrets.redact(problems.strip()[-500:])
        raise BadAnswer(remedy=action, cause=f"it ended with {process.returncode}: {last}")
    return decision_of(outside.secrets.redact(out), action)


def _talk(
    process: subprocess.Popen[str], said: str, action: str, seconds: float, outside: Outside
) -> tuple[str, str]:
    """What it says, if it does so in time and nothing stops the stage meanwhile."""
    until = time.monotonic() + seconds
    given: str | None = said
    while True:
        left = until - time.monotonic()
        try:
            return process.communicate(given, timeout=max(0.0, min(left, _LOOK_SECONDS)))
        except subprocess.TimeoutExpired as error:
            given = None  # it is on its way already
            because = outside.stopped()
            if because is not None:
                raise RemedyStopped(because) from error
            if left <= 0:
                cause = f"it took longer than {seconds:g} s"
                raise BadAnswer(remedy=action, cause=cause) from error


def _environment(given: Mapping[str, str], outside: Outside) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    for name, value in given.items():
        text = str(value)
        kept[name] = outside.secrets.resolve(text).reveal() if is_reference(text) else text
    return kept


def _end(process: subprocess.Popen[str]) -> None:
    """End what is left of it, its children included."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with process:
        pass
