"""An id, a path or an ARN has a character that only looks like a plain one: a typographic hyphen or
quote, a non-breaking space, a zero-width character. Such characters come from copying out of a
document, and a typed name never matches them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from operator import attrgetter

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.retries import HealingAction, RetryPolicy
from goldsmith.catalog.rows import Row, key_text
from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.throttles import Throttle
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import LOOK_ALIKES, plain

_COLUMNS: dict[type[Row], tuple[str, ...]] = {
    Pipeline: ("pipeline_id",),
    Stage: ("stage_name",),
    Source: ("source_id", "s3_path", "schema_arn"),
    Target: ("target_id", "location"),
    RuleSet: ("rule_set_id",),
    RetryPolicy: ("retry_id",),
    HealingAction: ("error_code", "action_script"),
    Throttle: ("throttle_id",),
}


@catalog_rule(FindingSeverity.WARNING, reads=tuple(_COLUMNS))
def typographic_characters(rows: CatalogRows) -> Iterator[FoundProblem]:
    for kind, columns in _COLUMNS.items():
        for column in columns:
            value_of = attrgetter(column)
            # Nearly all values are plain ASCII, and `isascii` is fast.
            if not "".join(filter(None, map(value_of, rows.rows(kind)))).isascii():
                for row in rows.rows(kind):
                    if not LOOK_ALIKES.keys().isdisjoint(value_of(row) or ""):
                        yield _wrong(row, column, value_of(row))


def _wrong(row: Row, column: str, value: str) -> FoundProblem:
    odd = next(character for character in value if character in LOOK_ALIKES)
    name = unicodedata.name(odd, "a character without width").lower()
    typed = f": {plain(value)}" if len(value) <= 200 else "."
    return FoundProblem(
        row,
        f"The {column} of {row.table.name} row '{key_text(row.key)}' holds a typographic character:"
        f" {name} (U+{ord(odd):04X}).",
        f"Type it again with plain characters{typed}",
    )
