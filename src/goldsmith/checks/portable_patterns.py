"""Regular expressions that mean the same to Java and to RE2.

They do so only for texts of printable ASCII, which have no line ends, letters or blanks that the
two treat differently. Patterns that are not known to mean the same are left to Spark.

The common patterns are simple enough to be rewritten into the form that Java matches fastest.
"""

from __future__ import annotations

import re

_ESCAPED = r"\\[dDwWsStnfr]|\\x0B|\\[^\w\s]"
_IN_CLASS = rf"(?:{_ESCAPED}|[^\\\[\]&])"
_ATOM = rf"(?:{_ESCAPED}|\\[bB]|\[\^?{_IN_CLASS}+\]|\(\?:|[^\\\[\]{{}}*+?])"
_TIMES = r"(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})\??"
_COMMON = re.compile(rf"(?:\(\?i\))?(?:{_ATOM}(?:{_TIMES})?)*", re.ASCII)
#: A quantifier with nothing to repeat: one engine may accept it and the other not.
_REPEATS_NOTHING = re.compile(r"(?:^|[(|^$]|\\[bB])(?:[*+]|\?(?!:|i\))|\{)", re.ASCII)
#: An escaped character, or a character class.
_PIECE = re.compile(r"\\.|\[\^?(?:\\.|[^\\\]])+\]")
_SPELT_OUT = {r"\d": "0-9", r"\s": r" \t\n\x0B\f\r", r"\w": "a-zA-Z_0-9"}
_SHORTHAND = re.compile(r"\\.")
#: A dash that is not at one end of its class may mean a range.
_MAY_BE_RANGE = re.compile(r"\\[dsw]-[^\]]|(?<!^\[)(?<!^\[\^)-\\[dsw]")


def is_common(pattern: str) -> bool:
    """The pattern is known to mean the same to Java and to RE2."""
    if not pattern.isascii() or not pattern.isprintable():
        return False
    return _COMMON.fullmatch(pattern) is not None and _REPEATS_NOTHING.search(pattern) is None


def spelt_out(pattern: str) -> str:
    r"""The pattern with `\d`, `\s` and `\w` replaced by their characters inside its classes.

    Java looks up characters of such a class in a table; otherwise it calls a chain of functions.
    """
    if not is_common(pattern) or pattern.startswith("(?i)"):
        return pattern
    return _PIECE.sub(lambda match: _spelt_out(match[0]), pattern)


def _spelt_out(piece: str) -> str:
    if piece.startswith("\\") or _MAY_BE_RANGE.search(piece):
        return piece
    return _SHORTHAND.sub(lambda match: _SPELT_OUT.get(match[0], match[0]), piece)
