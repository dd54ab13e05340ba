"""Cut SQL into tokens, in any dialect, also where a string or comment never ends.

sqlglot's tokenizer refuses truncated text; query logs truncate. These tokens serve splitting,
statements read without a parser, and fingerprints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

WORD, QUOTED, STRING, NUMBER, SYMBOL, DOLLAR = "word", "quoted", "string", "number", "symbol", "$$"


class Token(NamedTuple):
    """One token; `value` is the text without quotes, `upper` the upper-case text of a word."""

    kind: str
    value: str
    upper: str
    start: int
    end: int


_BACKSLASH = frozenset(
    ("mysql", "bigquery", "spark", "databricks", "hive", "snowflake", "clickhouse", "redshift")
)
_DOUBLE_IS_STRING = frozenset(("mysql", "bigquery", "spark", "databricks", "hive"))
_HASH_COMMENT = frozenset(("mysql", "bigquery"))
_SLASH_COMMENT = frozenset(("snowflake", "databricks"))
_BRACKETS = frozenset(("tsql",))


@lru_cache(maxsize=32)
def _pattern(dialect: str) -> re.Pattern[str]:
    comments = [r"--[^\n]*", r"/\*.*?(?:\*/|\Z)"]
    if dialect in _HASH_COMMENT:
        comments.append(r"\#[^\n]*")
    if dialect in _SLASH_COMMENT:
        comments.append(r"(?<!:)//[^\n]*")
    body = r"(?:[^'\\]|\\.|'')*" if dialect in _BACKSLASH else r"(?:[^']|'')*"
    double = r"(?:[^\"\\]|\\.|\"\")*" if dialect in _BACKSLASH else r'(?:[^"]|"")*'
    long_strings = r"'''.*?(?:'''|\Z)|\"\"\".*?(?:\"\"\"|\Z)|" if dialect == "bigquery" else ""
    prefix = r"(?:[rRbBnNeExX]|[uU]&)?"
    quoted = [r"`(?:[^`]|``)*(?:`|\Z)"]
    strings = [long_strings + rf"{prefix}'{body}(?:'|\Z)"]
    if dialect == "oracle":
        strings.insert(0, r"[nN]?[qQ]'(?:\[.*?\]'|\{.*?\}'|\(.*?\)'|<.*?>'|(?P<q>.).*?(?P=q)')")
    if dialect in _DOUBLE_IS_STRING:
        strings.append(rf'[rRbB]?"{double}(?:"|\Z)')
    else:
        quoted.append(r'"(?:[^"]|"")*(?:"|\Z)')
    if dialect in _BRACKETS:
        quoted.append(r"\[(?:[^\]]|\]\])*(?:\]|\Z)")
    dollar = r"\$(?P<tag>[A-Za-z_]\w*)?\$.*?(?:\$(?(tag)(?P=tag))\$|\Z)"
    return re.compile(
        rf"""
        (?P<space>\s+|{"|".join(comments)})
      | (?P<dollar>{dollar})
      | (?P<string>{"|".join(strings)})
      | (?P<quoted>{"|".join(quoted)})
      | (?P<word>[^\W\d][\w$]*|[@\#]+[\w$@\#]+|\$\w+)
      | (?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)
      | (?P<symbol>::|:=|=>|->>?|<=|>=|<>|!=|\|\||.)
        """,
        re.VERBOSE | re.DOTALL,
    )


def tokenize(text: str, dialect: str = "") -> list[Token]:
    """The tokens of a text, without spaces and comments."""
    return list(read_lazily(text, dialect))


def read_lazily(text: str, dialect: str = "") -> Iterator[Token]:
    """The tokens one after another, for texts too long to hold all of them."""
    for match in _pattern(dialect).finditer(text):
        kind = match.lastgroup
        if kind == "space":
            continue
        found = match.group()
        start, end = match.span()
        if kind == "word":
            yield Token(WORD, found, found.upper(), start, end)
        elif kind == "symbol":
            yield Token(SYMBOL, found, found, start, end)
        elif kind == "number":
            yield Token(NUMBER, found, "", start, end)
        elif kind == "dollar" or kind == "tag":
            yield Token(DOLLAR, _inside_dollars(found), "", start, end)
        elif kind == "quoted":
            yield Token(QUOTED, _unquoted(found), "", start, end)
        else:
            yield Token(STRING, string_value(found), "", start, end)


def _inside_dollars(found: str) -> str:
    tag = found[: found.index("$", 1) + 1]
    body = found[len(tag) :]
    return body[: -len(tag)] if body.endswith(tag) else body


def _unquoted(found: str) -> str:
    opening, closing = found[0], {"[": "]"}.get(found[0], found[0])
    body = found[1:-1] if len(found) > 1 and found.endswith(closing) else found[1:]
    return body.replace(closing * 2, closing) if opening != "[" else body.replace("]]", "]")


def string_value(found: str) -> str:
    """The text between the quotes of a string literal."""
    for quote in ("'''", '"""', "'", '"'):
        index = found.find(quote)
        if 0 <= index <= 2:
            body = found[index + len(quote) :]
            if body.endswith(quote):
                body = body[: -len(quote)]
            if found[:1] in "qQ" or found[:2].lower() == "nq":
                return body[1:-1]
            return body.replace(quote * 2, quote) if len(quote) == 1 else body
    return found
