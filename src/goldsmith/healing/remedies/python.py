"""Call a Python function, `python:module:name`, with the failure; it returns a Decision or None."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from goldsmith.healing.answer import BadAnswer
from goldsmith.healing.failure import Decision, Failure
from goldsmith.healing.remedy import RemedyContext, remedy


@remedy
def python(failure: Failure, *, outside: RemedyContext, action: str) -> Decision | None:
    _, _, target = action.partition(":")
    module, _, name = target.partition(":")
    try:
        decided = getattr(import_module(module), name)(failure)
    except Exception as error:  # the user's function may raise anything
        cause = outside.secrets.redact(f"{type(error).__name__}: {error}")
        raise BadAnswer(remedy=action, cause=cause) from error
    if decided is not None and not isinstance(decided, Decision):
        raise BadAnswer(remedy=action, cause=f"it gave {type(decided).__name__}, no Decision")
    if decided is None:
        return None
    return replace(decided, because=outside.secrets.redact(decided.because))
