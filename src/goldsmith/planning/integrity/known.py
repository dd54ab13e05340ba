"""Known names of dialects and stage options, and suggestions for misspelt names."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from functools import lru_cache

from goldsmith.catalog import options
from goldsmith.errors import nearest

#: The names of sqlglot's dialects, listed here so that checking a name need not import sqlglot.
DIALECTS = (
    "athena",
    "bigquery",
    "clickhouse",
    "databricks",
    "dax",
    "doris",
    "dremio",
    "drill",
    "druid",
    "duckdb",
    "dune",
    "exasol",
    "fabric",
    "hive",
    "materialize",
    "mysql",
    "oracle",
    "postgres",
    "presto",
    "prql",
    "redshift",
    "risingwave",
    "snowflake",
    "solr",
    "spark",
    "spark2",
    "sqlite",
    "starrocks",
    "tableau",
    "teradata",
    "trino",
    "tsql",
)
#: The keys that `stages.options` may have, beside those of transforms and write modes.
STAGE_OPTIONS = {option.name: option for option in options.STAGE}
#: Typographic characters, and the plain character each looks like.
LOOK_ALIKES = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d", "-"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2008\u2009\u202f\u3000", " "),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
    **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
}
_TO_PLAIN = str.maketrans(LOOK_ALIKES)

#: With more names than this, only alphabetical neighbours are compared.
_MANY = 200
_BESIDE = 6
_LONGEST = 200
_ALIKE = "They look alike, but one holds a typographic character. "


def did_you_mean(name: str, known: Collection[str]) -> str:
    """`Did you mean 'x'? ` with a trailing space, or an empty text if no known name is close."""
    if len(name) > _LONGEST:
        return ""
    few = tuple(known) if len(known) <= _MANY else _beside(name, frozenset(known))
    guess = nearest(name, few)
    if guess is None or guess == name:
        return ""
    alike = plain(guess) == plain(name)
    return f"Did you mean '{guess}'? " + (_ALIKE if alike else "")


def plain(text: str) -> str:
    """Replace typographic characters by the plain ones they look like."""
    return text.translate(_TO_PLAIN)


def is_dialect(dialect: str) -> bool:
    """sqlglot knows the dialect; settings may follow its name after a comma."""
    return not dialect or dialect.partition(",")[0].strip() in DIALECTS


def _beside(name: str, known: frozenset[str]) -> tuple[str, ...]:
    """The names whose beginning or end is most similar."""
    forwards, backwards = _in_order(known)
    index, reversed_index = bisect_left(forwards, name), bisect_left(backwards, name[::-1])
    begins = forwards[max(index - _BESIDE, 0) : index + _BESIDE]
    ends = backwards[max(reversed_index - _BESIDE, 0) : reversed_index + _BESIDE]
    return tuple(dict.fromkeys((*begins, *(other[::-1] for other in ends))))


@lru_cache(maxsize=2)
def _in_order(known: frozenset[str]) -> tuple[list[str], list[str]]:
    return sorted(known), sorted(name[::-1] for name in known)
