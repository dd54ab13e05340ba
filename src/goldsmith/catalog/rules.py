"""Rule sets: what must hold of a dataset before anybody may see it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from goldsmith.catalog.columns import flag, items, key, text, word
from goldsmith.catalog.rows import Row, table


class Severity(StrEnum):
    """What a failed verdict does: stop the publish, report, or only record."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


@table(
    "validation_rules",
    purpose="One row a rule set: a list of checks that stages name before or after shaping.",
    read_by="planner, checks",
    takes_effect="at the next plan",
)
class RuleSet(Row):
    """A named list of checks."""

    rule_set_id: str = key(doc="The rule set's name.")
    description: str | None = text(default=None, doc="What it promises.")
    check_def: tuple[Mapping[str, Any], ...] = items(
        default=None, doc='A JSON list of checks: `[{"type": "row_count", "min": 1}]`.'
    )
    severity: str = word(
        default="critical", words=Severity, doc="The severity of checks that name none."
    )
    is_default: bool = flag(default=False, doc="Shipped with Goldsmith.", internal=True)
