"""Regular expressions that Java and RE2 understand alike.

Only in texts of printable ASCII: there are no line ends, letters or blanks in them that the two
see differently. What is not surely the same in both is left to Spark.
"""

from __future__ import annotations

import re

_ESCAPED = r"\\[dDwWsS]|\\[^\w\s]"
_IN_CLASS = rf"(?:{_ESCAPED}|[^\\\[\]&])"
_ATOM = rf"(?:{_ESCAPED}|\\[bB]|\[\^?{_IN_CLASS}+\]|\(\?:|[^\\\[\]{{}}*+?])"
_TIMES = r"(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})\??"
_COMMON = re.compile(rf"(?:\(\?i\))?(?:{_ATOM}(?:{_TIMES})?)*", re.ASCII)
#: Nothing there to be repeated, which one of them may take and the other not.
_REPEATS_NOTHING = re.compile(r"(?:^|[(|^$]|\\[bB])(?:[*+]|\?(?!:|i\))|\{)", re.ASCII)


def is_common(pattern: str) -> bool:
    """The pattern surely means the same to Java and to RE2."""
    if not pattern.isascii() or not pattern.isprintable():
        return False
    return _COMMON.fullmatch(pattern) is not None and _REPEATS_NOTHING.search(pattern) is None
