"""The words a stage may use, and the known name somebody probably meant."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from functools import lru_cache

from goldsmith.errors import nearest

#: sqlglot's dialects by name, so that nobody waits for sqlglot to hear of a misspelt one.
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
#: What `stages.options` may say.
STAGE_OPTIONS = (
    "add_columns",
    "cast",
    "deduplicate",
    "description",
    "optional",
    "overwrite",
    "partial",
    "read",
    "rename",
)
#: Characters that people read as another one, and that one.
LOOK_ALIKES = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d", "-"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2008\u2009\u202f\u3000", " "),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
    **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
}
_TO_PLAIN = str.maketrans(LOOK_ALIKES)

#: Above so many names only the ones beside it in the alphabet are compared.
_MANY = 200
_BESIDE = 6
_LONGEST = 200
_ALIKE = "They look alike, but one holds a typographic character. "


def did_you_mean(name: str, known: Collection[str]) -> str:
    """`Did you mean 'x'? ` with a space to go on, or nothing where no known name is close."""
    if len(name) > _LONGEST:
        return ""
    few = tuple(known) if len(known) <= _MANY else _beside(name, frozenset(known))
    guess = nearest(name, few)
    if guess is None or guess == name:
        return ""
    alike = plain(guess) == plain(name)
    return f"Did you mean '{guess}'? " + (_ALIKE if alike else "")


def plain(text: str) -> str:
    """A text with typographic characters as they are typed."""
    return text.translate(_TO_PLAIN)


def is_dialect(dialect: str) -> bool:
    """sqlglot knows the dialect; settings of the dialect may follow after a comma."""
    return not dialect or dialect.partition(",")[0].strip() in DIALECTS


def _beside(name: str, known: frozenset[str]) -> tuple[str, ...]:
    """The names that begin or end most like it."""
    forwards, backwards = _in_order(known)
    place, ecalp = bisect_left(forwards, name), bisect_left(backwards, name[::-1])
    begins = forwards[max(place - _BESIDE, 0) : place + _BESIDE]
    ends = backwards[max(ecalp - _BESIDE, 0) : ecalp + _BESIDE]
    return tuple(dict.fromkeys((*begins, *(other[::-1] for other in ends))))


@lru_cache(maxsize=2)
def _in_order(known: frozenset[str]) -> tuple[list[str], list[str]]:
    return sorted(known), sorted(name[::-1] for name in known)
