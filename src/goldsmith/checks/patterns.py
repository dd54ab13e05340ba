"""Validate regular expressions of checks: Spark runs them in Java, Python compiles them here."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import lru_cache

_LONGEST = 10_000
#: Syntax of Java that Python lacks, and a similar pattern that Python compiles.
_JAVA_ONLY: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\\Q(.*?)(?:\\E|$)", re.DOTALL), lambda match: re.escape(match[1])),
    (re.compile(r"\\[pP](?:\{\^?[\w=]+\}|[A-Z])"), lambda match: r"\w"),
    (re.compile(r"\\x\{[0-9a-fA-F]+\}"), lambda match: "x"),
    (re.compile(r"\(\?<([A-Za-z]\w*)>"), lambda match: f"(?P<{match[1]}>"),
    (re.compile(r"\\k<([A-Za-z]\w*)>"), lambda match: f"(?P={match[1]})"),
    (re.compile(r"\\[hHvVRXGezy]"), lambda match: r"\s"),
    (re.compile(r"\(\?[dimsuxU]+(?:-[dimsuxU]+)?(?=[:)])"), lambda match: "(?:"),
)


@lru_cache(maxsize=1024)
def why_not(pattern: str) -> str | None:
    """Why a pattern does not compile; None where it does."""
    if len(pattern) > _LONGEST:
        return f"it is longer than {_LONGEST:,} characters"
    reason = _python_says(pattern)
    if reason is None:
        return None
    likened = pattern
    for java, python in _JAVA_ONLY:
        likened = java.sub(python, likened)
    return reason if likened == pattern else _python_says(likened)


def _python_says(pattern: str) -> str | None:
    try:
        with warnings.catch_warnings():
            # Python warns that it may read nested sets, valid in Java, differently one day.
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error) or type(error).__name__
    return None
