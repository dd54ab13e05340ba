"""The pairs of error code and remedy, with how often each was used and helped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.healing.budget import success_rate
from goldsmith.healing.pairs import all_pairs
from goldsmith.journal.healing_tables import HealingUse


def pair_rates(rows: CatalogRows, used: Iterable[HealingUse]) -> list[dict[str, Any]]:
    """Every pair of the catalog as plain values, with its uses and its success rate."""
    uses: dict[tuple[str, str], list[HealingUse]] = {}
    for use in used:
        uses.setdefault((str(use.error_code), str(use.remedy)), []).append(use)
    found = []
    for pair in all_pairs(rows):
        mine = uses.get((pair.error_code, pair.action), [])
        found.append(
            {
                "error_code": pair.error_code,
                "step_order": pair.step_order,
                "remedy": pair.action,
                "settings": dict(pair.settings),
                "enabled": pair.enabled,
                "max_uses": pair.max_uses,
                "success_floor": pair.success_floor,
                "uses": len(mine),
                "success_rate": success_rate(mine),
                "only_where_allowed": pair.needs_permission,
            }
        )
    return found
