"""Rules that a profile suggests, each with its reason; what holds today by chance is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from goldsmith.checks.outcome import plain
from goldsmith.checks.profile import ColumnProfile, as_regex

#: Fewer values than this say nothing about the next ones.
_ENOUGH = 20
#: A column with so few different values, each seen so often, is a closed set of words.
_FEW_WORDS = 15
_SEEN_OFTEN = 5
#: How far the number of rows may go before it is looked at.
_LESS, _MORE = 0.5, 2.0
_FORMATS = {"uuid": "uuid", "email": "email"}


def suggest(columns: Sequence[ColumnProfile]) -> Iterator[tuple[dict[str, Any], str]]:
    """Checks and the reason for each, the ones of the whole dataset first."""
    rows = columns[0].rows if columns else 0
    if rows:
        low, high = int(rows * _LESS), int(rows * _MORE) + 1
        yield (
            {"type": "row_count", "min": max(low, 1), "max": high, "severity": "warning"},
            f"there were {rows:,} rows; half or twice as many would be news",
        )
    for column in columns:
        if not column.name.startswith("_"):
            yield from _of_column(column)


def _of_column(column: ColumnProfile) -> Iterator[tuple[dict[str, Any], str]]:
    values = column.rows - column.nulls
    named = {"column": column.name}
    if values < _ENOUGH:
        return
    if column.nulls == 0:
        yield {"type": "not_null", **named}, f"none of {column.rows:,} rows had a NULL"
    else:
        share = column.nulls / column.rows
        allowed = min(1.0, round(share * 1.5 + 0.01, 4))
        yield (
            {"type": "null_rate", **named, "max": allowed, "severity": "warning"},
            f"{share:.1%} of the rows had a NULL",
        )
    if column.is_unique:
        yield {"type": "unique", **named}, f"{values:,} values, and none was seen twice"
    elif _is_closed(column, values):
        words = sorted((value for value, _ in column.top), key=str)
        yield (
            {"type": "one_of", **named, "values": [plain(word) for word in words]},
            f"only {len(words)} different values in {values:,} rows",
        )
    elif column.inferred in _FORMATS:
        yield (
            {"type": "format", **named, "format": _FORMATS[column.inferred]},
            f"every value was a {column.inferred}",
        )
    elif len(column.patterns) == 1 and column.patterns[0][1] >= values:
        shape = str(column.patterns[0][0])
        yield (
            {"type": "regex", **named, "pattern": as_regex(shape)},
            f"every value had the shape {shape}",
        )
    if column.quantiles is not None and column.min is not None and column.min >= 0:
        yield (
            {"type": "in_range", **named, "min": 0},
            f"no value was negative; they lay between {plain(column.min)} and {plain(column.max)}",
        )


def _is_closed(column: ColumnProfile, values: int) -> bool:
    """All the different values are known, and each was seen often."""
    return (
        column.quantiles is None
        and column.distinct is not None
        and 0 < len(column.top) < _FEW_WORDS
        and column.distinct <= len(column.top)
        and sum(count for _, count in column.top) == values
        and values >= _SEEN_OFTEN * len(column.top)
    )


def as_yaml(rule_set_id: str, found: Sequence[tuple[dict[str, Any], str]], of: str) -> str:
    """A rule set ready to apply, the reason above each rule."""
    import json

    lines = [
        "validation_rules:",
        f"  - rule_set_id: {json.dumps(rule_set_id)}",
        f"    description: {json.dumps(f'Suggested from the rows of {of}.')}",
        "    check_def:",
    ]
    for check, reason in found:
        lines += [f"      # {reason}", f"      - {json.dumps(check, ensure_ascii=False)}"]
    if not found:
        lines[-1] += " []"
    return "\n".join(lines) + "\n"
