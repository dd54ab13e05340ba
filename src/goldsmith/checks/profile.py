"""A profile of the columns of some rows, measured in one pass.

Distinct values are estimated within a few percent. Columns that seem unique are then counted
exactly, all in one more job.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from goldsmith.checks.context import Context
from goldsmith.checks.evaluate import evaluate
from goldsmith.checks.outcome import plain
from goldsmith.checks.planned_check import planned

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_NUMBERS = frozenset(("byte", "short", "integer", "long", "float", "double", "decimal"))
_TIMES = frozenset(("date", "timestamp", "timestamp_ntz"))
_NESTED = frozenset(("array", "map", "struct", "variant", "binary"))
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: How many most frequent values to show, and how many approx_top_k tracks to find them.
_TOP = 10
_WATCHED = 10_000
#: With more distinct values than are tracked, a count may be too high by this share of all values.
_TOO_HIGH = 3.5 / _WATCHED
#: The least estimated share of distinct values in a column that may be unique.
_NEARLY_ALL = 0.97
#: Types a text column may be read as, with the SQL condition of each, the narrowest first.
_KINDS: Mapping[str, str] = {
    "boolean": "lower({0}) IN ('true', 'false')",
    "bigint": "try_cast({0} AS BIGINT) IS NOT NULL",
    "double": "try_cast({0} AS DOUBLE) IS NOT NULL",
    "date": "length({0}) = 10 AND try_cast({0} AS DATE) IS NOT NULL",
    "timestamp": "length({0}) > 10 AND try_cast({0} AS TIMESTAMP) IS NOT NULL",
    "uuid": "{0} RLIKE '^[0-9a-fA-F]{{8}}(-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}$'",
    "email": "{0} RLIKE '^[^@ ]+@[^@ ]+[.][^@ ]+$'",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnProfile:
    """The profile of one column."""

    name: str
    type: str
    rows: int
    nulls: int
    #: Distinct values, within a few percent; exact where the column is unique.
    distinct: int | None = None
    #: No value occurs twice.
    is_unique: bool = False
    min: Any = None
    max: Any = None
    mean: float | None = None
    #: Share → value, for columns of numbers.
    quantiles: Mapping[str, float] | None = None
    #: The most frequent values and how often each occurs, most frequent first.
    top: Sequence[tuple[Any, int]] = ()
    #: The most frequent shapes of texts: 9 for a digit, a for a letter.
    patterns: Sequence[tuple[str, int]] = ()
    #: Shortest and longest text.
    lengths: tuple[int, int] | None = None
    #: The type every text of the column can be read as: bigint, date, uuid …
    inferred: str | None = None

    def as_plain(self) -> dict[str, Any]:
        return {name: plain(value) for name, value in asdict(self).items()}


def profile(rows: DataFrame) -> list[ColumnProfile]:
    """Profile every column, all in one job."""
    from pyspark.sql import functions as F

    measures: list[Column] = [F.count(F.lit(1)).alias("rows")]
    for index, field in enumerate(rows.schema.fields):
        column = f"`{field.name.replace('`', '``')}`"
        for what, sql in _measures(column, field.dataType).items():
            measures.append(F.expr(sql).alias(f"{what}_{index}"))
    got = rows.agg(*measures).collect()[0].asDict(recursive=True)
    found = [
        _profile(field.name, field.dataType, index, got)
        for index, field in enumerate(rows.schema.fields)
    ]
    unique = _unique(rows, [profiled.name for profiled in found if _may_be_unique(profiled)])
    return [
        replace(profiled, is_unique=True, distinct=profiled.rows - profiled.nulls, top=())
        if profiled.name in unique
        else profiled
        for profiled in found
    ]


def _may_be_unique(column: ColumnProfile) -> bool:
    values = column.rows - column.nulls
    return column.distinct is not None and 0 < _NEARLY_ALL * values <= column.distinct


def _unique(rows: DataFrame, names: Sequence[str]) -> set[str]:
    """The unique columns among these, all counted in one job."""
    checks = planned([{"type": "unique", "column": name} for name in names])
    outcomes = evaluate(rows, checks, Context(now=datetime.now(UTC)))
    return {name for name, outcome in zip(names, outcomes, strict=True) if outcome.passed}


def _measures(column: str, type_: DataType) -> dict[str, str]:
    kind = type_.typeName()
    found = {"nulls": f"count_if({column} IS NULL)"}
    if kind in _NESTED:
        return found
    # Spark would hand Python a timestamp in the time zone of this process.
    shown = f"CAST({column} AS TIMESTAMP_NTZ)" if kind == "timestamp" else column
    found |= {
        "distinct": f"approx_count_distinct({column}, 0.02)",
        "min": f"min({shown})",
        "max": f"max({shown})",
        "top": f"approx_top_k({shown}, {_TOP}, {_WATCHED})",
    }
    if kind in _NUMBERS:
        shares = ", ".join(map(str, _QUANTILES))
        found |= {
            "mean": f"avg(CAST({column} AS DOUBLE))",
            "quantiles": f"approx_percentile(CAST({column} AS DOUBLE), array({shares}), 1000)",
        }
    if kind in ("string", "char", "varchar"):
        shape = f"regexp_replace(regexp_replace(left({column}, 60), '[0-9]', '9'), '[A-Za-z]', 'a')"
        found |= {
            "patterns": f"approx_top_k({shape}, {_TOP}, {_WATCHED})",
            "shortest": f"min(length({column}))",
            "longest": f"max(length({column}))",
        }
        found |= {f"is_{name}": f"count_if({sql.format(column)})" for name, sql in _KINDS.items()}
    return found


def _profile(name: str, type_: DataType, index: int, got: Mapping[str, Any]) -> ColumnProfile:
    def of(what: str) -> Any:
        return got.get(f"{what}_{index}")

    rows, nulls = got["rows"], of("nulls")
    values = rows - nulls
    quantiles = of("quantiles")
    read_as = next((kind for kind in _KINDS if values and of(f"is_{kind}") == values), None)
    return ColumnProfile(
        name=name,
        type=type_.simpleString(),
        rows=rows,
        nulls=nulls,
        distinct=None if of("distinct") is None else min(of("distinct"), values),
        min=of("min"),
        max=of("max"),
        mean=of("mean"),
        quantiles=None
        if quantiles is None
        else {f"{share:g}": value for share, value in zip(_QUANTILES, quantiles, strict=True)},
        top=_frequent(_counted(of("top")), values, of("distinct")),
        patterns=_counted(of("patterns")),
        lengths=None if of("shortest") is None else (of("shortest"), of("longest")),
        inferred=read_as,
    )


def _counted(found: Sequence[Mapping[str, Any]] | None) -> list[tuple[Any, int]]:
    return [(entry["item"], entry["count"]) for entry in found or () if entry["item"] is not None]


def _frequent(
    found: list[tuple[Any, int]], values: int, distinct: int | None
) -> list[tuple[Any, int]]:
    """The values whose count exceeds the possible error of approx_top_k."""
    if distinct is None or distinct <= _WATCHED:
        return found
    return [(value, count) for value, count in found if count > _TOO_HIGH * values]


def as_regex(pattern: str) -> str:
    """A regular expression for a shape of texts such as `aaa-999`."""
    parts = re.findall(r"9+|a+|[^9a]+", pattern)
    classes = {"9": "[0-9]", "a": "[A-Za-z]"}
    pieces = [
        f"{classes[part[0]]}{{{len(part)}}}" if part[0] in classes else re.escape(part)
        for part in parts
    ]
    return f"^{''.join(pieces)}$"
