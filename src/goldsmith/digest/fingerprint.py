"""Recognise statements that differ only in literals, so that a log parses each shape once.

Two statements with one fingerprint must have one answer. So quoted names stay, strings with a path
or a name stay, and a text whose strings may decide the answer, or may end somewhere else in another
dialect, is its own fingerprint.
"""

from __future__ import annotations

import re

_TOKENS = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|\b\d+(?:\.\d+)?\b|--[^\n]*|/\*.*?\*/""",
    re.DOTALL,
)
_LISTS = re.compile(r"\(\s*\?(?:\s*,\s*\?)+\s*\)")
_ROWS = re.compile(r"(\(\?\))(?:\s*,\s*\(\?\))+")
#: Escapes, dollar quotes and parameters, MySQL's comments; statements whose strings hold SQL or
#: names of columns and tables.
_EXACT = re.compile(
    r"[\\$#]|\b(?:exec\w*|immediate|call|pivot|unpivot|identifier|open\w+|dblink\w*|query\w*)\b",
    re.IGNORECASE,
)


def fingerprint(text: str) -> str:
    """The text without literals, comments and the number of list items and rows."""
    if _EXACT.search(text):
        return text.strip()
    short = _TOKENS.sub(_replaced, text)
    if "?" in short:
        short = _LISTS.sub("(?)", short)
        short = _ROWS.sub(r"\1", short)
    return short.strip()


def _replaced(match: re.Match[str]) -> str:
    found = match.group()
    first = found[0]
    if first == "'":
        # Paths and names inside strings decide the answer.
        return found if "/" in found or "." in found or ":" in found else "?"
    if first in '"`[':
        return found
    return "?" if first.isdigit() else " "
