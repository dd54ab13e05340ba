"""Recognise statements that differ only in literals, so that a log parses each shape once.

Two statements with one fingerprint must have one answer. So quoted names stay, strings with a path
or a name stay, and a text whose strings may decide the answer, or may end somewhere else in another
dialect, is its own fingerprint.
"""

from __future__ import annotations

import re

#: Strings, quoted names and comments; what is between them holds the numbers.
_QUOTED = re.compile(
    r"""('[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/)""",
    re.DOTALL,
)
_NUMBERS = re.compile(r"\b\d+(?:\.\d+)?\b")
#: Joins the parts between quotes, so that their numbers are replaced in one pass.
_BREAK = "\0"
_LISTS = re.compile(r"\(\s*\?(?:\s*,\s*\?)+\s*\)")
_ROWS = re.compile(r"(\(\?\))(?:\s*,\s*\(\?\))+")
#: Escapes, dollar quotes and parameters, MySQL's comments.
_EXACT_CHARACTERS = ("\\", "$", "#", _BREAK)
#: Statements whose strings hold SQL or names of columns and tables. Finding a plain text is much
#: faster than the pattern, so the pattern runs only where one of the texts occurs.
_EXACT_TEXTS = ("exec", "immediate", "call", "pivot", "identifier", "open", "dblink", "query")
_EXACT_WORDS = re.compile(
    r"\b(?:exec\w*|immediate|call|pivot|unpivot|identifier|open\w+|dblink\w*|query\w*)\b"
)


def fingerprint(text: str) -> str:
    """The text without literals, comments and the number of list items and rows."""
    if _is_exact(text):
        return text.strip()
    parts = _QUOTED.split(text)
    parts[::2] = _NUMBERS.sub("?", _BREAK.join(parts[::2])).split(_BREAK)
    parts[1::2] = [_replaced(found) for found in parts[1::2]]
    short = "".join(parts)
    if "?" in short:
        short = _LISTS.sub("(?)", short)
        short = _ROWS.sub(r"\1", short)
    return short.strip()


def _is_exact(text: str) -> bool:
    """Whether literals of the text may decide its answer."""
    if any(character in text for character in _EXACT_CHARACTERS):
        return True
    lower = text.lower()
    return any(known in lower for known in _EXACT_TEXTS) and bool(_EXACT_WORDS.search(lower))


def _replaced(found: str) -> str:
    """What a string, a quoted name or a comment is in a fingerprint."""
    first = found[0]
    if first == "'":
        # Paths and names inside strings decide the answer.
        return found if "/" in found or "." in found or ":" in found else "?"
    return found if first in '"`[' else " "
