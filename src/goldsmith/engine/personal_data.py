"""Mask personal data, the columns in `options.pii` of a target, wherever rows are shown.

`options.pii` names columns, or fields within a column with dots; case makes no difference.
Stored data is not masked: users with access to a dataset may read its tables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from goldsmith.catalog.datasets import Target
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.checks.errors import CheckRaised
from goldsmith.checks.outcome import CheckOutcome
from goldsmith.planning.stage_context import Dataset

MASK = "***"
#: Checks that report counts or shares, never a value of a column.
_COUNTS = frozenset(
    (
        *("null_rate", "non_null_share", "value_count", "distinct_count", "unique", "unique_share"),
        *("referential", "same_counts", "not_constant", "increasing", "decreasing"),
    )
)
_QUOTED = re.compile(r"'(?:[^']|'')*'")
#: How Spark, PostgreSQL and DuckDB quote a value that they refuse.
_BAD_VALUE = re.compile(
    r"""(?isx)
    (?P<before> \bvalue\ (?='.*?'\ (?:of|in|cannot|is|does)\b)
      | \bconvert\ string\ (?='.*?'\ to\ )
      | invalid\ input\ (?:syntax|value)\ for\ [^:\n]*:\ (?=")
      | duplicate\ key\ (?=")
      | \bkey\ \([^)]*\)= (?=\()
    )
    (?: '.*?'(?=\s) | ".*?"(?=[\s.,;]|$) | \(.*?\)(?=\s) )
    """
)


def personal(target: Target | None) -> frozenset[str]:
    """The columns in `options.pii` of a target, in lower case."""
    columns = target.options.get("pii", ()) if target is not None else ()
    return frozenset(
        str(column).lower() for column in ([columns] if isinstance(columns, str) else columns)
    )


def personal_of(dataset: Dataset, rows: CatalogRows) -> frozenset[str]:
    """Personal columns of a dataset; for a source, those of the targets that read it."""
    targets = rows.table(Target)
    fed = [
        targets.get((stage.target_id,))
        for stage in rows.rows(Stage)
        if dataset.target is None and stage.source_id == dataset.dataset_id
    ]
    return personal(dataset.target).union(*map(personal, fed))


def masked(row: Mapping[str, Any], hide: frozenset[str]) -> dict[str, Any]:
    """A row with the values of personal columns masked; NULL stays NULL."""
    return {name: _masked(value, str(name).lower(), hide) for name, value in row.items()}


def _masked(value: Any, path: str, hide: frozenset[str]) -> Any:
    if value is None:
        return None
    if path in hide:
        return MASK
    if not any(item.startswith(f"{path}.") for item in hide):
        return value
    if isinstance(value, Mapping):
        return {
            key: _masked(item, f"{path}.{str(key).lower()}", hide) for key, item in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_masked(item, path, hide) for item in value]
    return MASK  # a text that may hold the field


def masked_text(text: str | None, hide: frozenset[str]) -> str | None:
    """Mask a malformed record: a JSON object by its fields, any other text as a whole."""
    if text is None or not hide:
        return text
    try:
        found = json.loads(text)
    except ValueError:
        return MASK
    if not isinstance(found, dict):
        return MASK
    return json.dumps(masked(found, hide), ensure_ascii=False)


def masked_outcomes(outcomes: Iterable[CheckOutcome], hide: frozenset[str]) -> list[CheckOutcome]:
    """Check outcomes without values of personal columns."""
    return [_masked_outcome(outcome, hide) for outcome in outcomes]


def _masked_outcome(outcome: CheckOutcome, hide: frozenset[str]) -> CheckOutcome:
    check, settings = outcome.planned.check, outcome.planned.settings
    columns = {name.lower().replace("`", "") for name in check.columns(settings)}
    heads = {hidden_column.partition(".")[0] for hidden_column in hide}
    named = any(column in hide or column.partition(".")[0] in heads for column in columns)
    # SQL may name any column.
    if not hide or not (named or "sql" in check.settings):
        return outcome
    if isinstance(outcome.error, CheckRaised):
        cause = CheckRaised(check=check.name, cause=_QUOTED.sub(f"'{MASK}'", outcome.error.cause))
        return replace(outcome, error=cause, message=str(cause))
    if check.name in _COUNTS or outcome.observed is None or outcome.broken is not None:
        return outcome
    message = outcome.message
    return replace(
        outcome,
        observed=MASK,
        message=message
        if outcome.passed
        else f"{outcome.planned.says}: expected {outcome.expected}",
    )


def masked_message(message: str, hide: frozenset[str]) -> str:
    """Mask the value that an error message quotes: its column is not known."""
    return _BAD_VALUE.sub(rf"\g<before>'{MASK}'", message) if hide else message
