"""Regular expressions that Java and RE2 understand alike.

Only in texts of printable ASCII: there are no line ends, letters or blanks in them that the two
see differently. What is not surely the same in both is left to Spark.

Those patterns are simple enough to be spelt in the way that Java is quickest with.
"""

from __future__ import annotations

import re

_ESCAPED = r"\\[dDwWsStnfr]|\\x0B|\\[^\w\s]"
_IN_CLASS = rf"(?:{_ESCAPED}|[^\\\[\]&])"
_ATOM = rf"(?:{_ESCAPED}|\\[bB]|\[\^?{_IN_CLASS}+\]|\(\?:|[^\\\[\]{{}}*+?])"
_TIMES = r"(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})\??"
_COMMON = re.compile(rf"(?:\(\?i\))?(?:{_ATOM}(?:{_TIMES})?)*", re.ASCII)
#: Nothing there to be repeated, which one of them may take and the other not.
_REPEATS_NOTHING = re.compile(r"(?:^|[(|^$]|\\[bB])(?:[*+]|\?(?!:|i\))|\{)", re.ASCII)
#: A letter behind a backslash, or a class.
_PIECE = re.compile(r"\\.|\[\^?(?:\\.|[^\\\]])+\]")
_SPELT_OUT = {r"\d": "0-9", r"\s": r" \t\n\x0B\f\r", r"\w": "a-zA-Z_0-9"}
_SHORTHAND = re.compile(r"\\.")
#: A dash that is not at one end of its class may mean a range.
_MAY_BE_RANGE = re.compile(r"\\[dsw]-[^\]]|(?<!^\[)(?<!^\[\^)-\\[dsw]")


def is_common(pattern: str) -> bool:
    """The pattern surely means the same to Java and to RE2."""
    if not pattern.isascii() or not pattern.isprintable():
        return False
    return _COMMON.fullmatch(pattern) is not None and _REPEATS_NOTHING.search(pattern) is None


def spelt_out(pattern: str) -> str:
    r"""The same pattern with the letters that `\d`, `\s` and `\w` stand for in its classes.

    Java looks letters of such a class up in a table; of the others it asks a chain of functions.
    """
    if not is_common(pattern) or pattern.startswith("(?i)"):
        return pattern
    return _PIECE.sub(lambda match: _spelt_out(match[0]), pattern)


def _spelt_out(piece: str) -> str:
    if piece.startswith("\\") or _MAY_BE_RANGE.search(piece):
        return piece
    return _SHORTHAND.sub(lambda match: _SPELT_OUT.get(match[0], match[0]), piece)
