"""Recognise statements that differ only in literals, so that a log parses each shape once."""

from __future__ import annotations

import re

_LITERALS = re.compile(r"""'(?:[^'\\]|\\.|'')*'|\b\d+(?:\.\d+)?\b|--[^\n]*|/\*.*?\*/""", re.DOTALL)
_LISTS = re.compile(r"\(\s*\?(?:\s*,\s*\?)+\s*\)")
_ROWS = re.compile(r"(\(\?\))(?:\s*,\s*\(\?\))+")


def _replaced(match: re.Match[str]) -> str:
    found = match.group()
    first = found[0]
    if first == "'":
        # Paths and names inside strings decide the answer.
        return found if "/" in found or "." in found or ":" in found else "?"
    return "?" if first.isdigit() else " "


def fingerprint(text: str) -> str:
    """The text without literals, comments and the number of list items and rows."""
    short = _LITERALS.sub(_replaced, text)
    if "?" in short:
        short = _LISTS.sub("(?)", short)
        short = _ROWS.sub(r"\1", short)
    return short.strip()
