"""Suggest rules from a profile, each with its reason; skip what may hold only by chance."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from goldsmith.checks.outcome import plain
from goldsmith.checks.profile import ColumnProfile, as_regex
from goldsmith.errors import count

#: Suggest nothing for a column with fewer values.
_ENOUGH = 20
#: A column with fewer distinct values, each seen so often on average, is an enumeration.
_FEW_VALUES = 15
_SEEN_OFTEN = 5
#: The suggested bounds of the number of rows, as factors of the rows profiled.
_LESS, _MORE = 0.5, 2.0
_FORMATS = {"uuid": "uuid", "email": "email"}


def suggest(
    columns: Sequence[ColumnProfile], *, counts: str | None = "table"
) -> Iterator[tuple[dict[str, Any], str]]:
    """Suggest checks with a reason for each, those of the whole dataset first.

    The profile is of all rows of the table. `counts` is the scope in which a check can count
    them: `table`, or `batch` where each batch is the whole table, or None.
    """
    rows = columns[0].rows if columns else 0
    if rows and counts is not None:
        low, high = int(rows * _LESS), int(rows * _MORE) + 1
        scope = {"scope": counts} if counts != "batch" else {}
        yield (
            {"type": "row_count", "min": max(low, 1), "max": high, **scope, "severity": "warning"},
            f"of {count(rows, 'row')}: half or twice as many would be news",
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
        yield {"type": "not_null", **named}, f"none of {count(column.rows, 'row')} had a NULL"
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
        listed = sorted((value for value, _ in column.top), key=str)
        yield (
            {"type": "one_of", **named, "values": [plain(value) for value in listed]},
            f"only {len(listed)} different values in {count(values, 'row')}",
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
    """All distinct values are listed, and they were seen often."""
    return (
        column.quantiles is None
        and column.distinct is not None
        and 0 < len(column.top) < _FEW_VALUES
        and column.distinct <= len(column.top)
        and sum(count for _, count in column.top) == values
        and values >= _SEEN_OFTEN * len(column.top)
    )


def _quoted(value: Any) -> str:
    """A value as JSON, which is YAML too; line ends of any kind are escaped, letters are not."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


def as_yaml(rule_set_id: str, found: Sequence[tuple[dict[str, Any], str]], of: str) -> str:
    """A rule set as YAML, ready to apply, with the reason above each rule."""
    description = f"Suggested from the rows of {of}."
    lines = [
        "validation_rules:",
        f"  - rule_set_id: {_quoted(rule_set_id)}",
        f"    description: {_quoted(description)}",
        "    check_def:",
    ]
    for check, reason in found:
        lines += [f"      # {' '.join(reason.split())}", f"      - {_quoted(check)}"]
    if not found:
        lines[-1] += " []"
    return "\n".join(lines) + "\n"
