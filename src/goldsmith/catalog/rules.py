"""Rule sets: the checks a dataset must pass before it is published."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from goldsmith.catalog.columns import choice, flag, items, key, text
from goldsmith.catalog.rows import Row, table


class Severity(StrEnum):
    """What a failed check does: prevent the publish, warn, or only be recorded."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


@table(
    "validation_rules",
    purpose="One row a rule set: a list of checks for the input or the output of stages.",
    read_by="planner, checks",
    takes_effect="at the next plan",
)
class RuleSet(Row):
    """A named list of checks."""

    rule_set_id: str = key(doc="The rule set's name.")
    description: str | None = text(default=None, doc="What it ensures.")
    check_def: tuple[Mapping[str, Any], ...] = items(
        default=None, doc='A JSON list of checks: `[{"type": "row_count", "min": 1}]`.'
    )
    severity: str = choice(
        default="critical", choices=Severity, doc="The severity of checks without their own."
    )
    is_default: bool = flag(default=False, doc="Shipped with Goldsmith.", internal=True)
