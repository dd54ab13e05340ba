"""Call a Python function, `python:module:name`, with the failure; it gives a Decision, or None."""

from __future__ import annotations

from importlib import import_module

from goldsmith.healing.answer import BadAnswer
from goldsmith.healing.failure import Decision, Failure
from goldsmith.healing.remedy import Outside, remedy


@remedy
def python(failure: Failure, *, outside: Outside, action: str) -> Decision | None:
    _, _, place = action.partition(":")
    module, _, name = place.partition(":")
    try:
        decided = getattr(import_module(module), name)(failure)
    except Exception as error:  # around somebody else's code
        cause = outside.secrets.redact(f"{type(error).__name__}: {error}")
        raise BadAnswer(remedy=action, cause=cause) from error
    if decided is not None and not isinstance(decided, Decision):
        raise BadAnswer(remedy=action, cause=f"it gave {type(decided).__name__}, no Decision")
    return decided
