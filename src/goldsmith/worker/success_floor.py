"""Disable a pair of error code and remedy whose success rate is below its floor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.healing.budget import Limits, below_floor
from goldsmith.healing.pairs import Pair, all_pairs
from goldsmith.journal import healing
from goldsmith.journal.healing_events import PairSwitchedOff
from goldsmith.journal.healing_tables import HealingUse
from goldsmith.runtime import Runtime

#: How many of the last uses of a pair give its success rate.
_USES = 20


def disable_failing_remedies(runtime: Runtime, judged: Sequence[HealingUse]) -> list[Pair]:
    """Disable pairs below their success floor, as an audited change that can be undone."""
    if not judged:
        return []
    rows = runtime.catalog.snapshot()
    limits, off = Limits.of(rows), []
    pairs = {(pair.error_code, pair.step_order): pair for pair in all_pairs(rows)}
    for key in {(str(use.error_code), use.step_order) for use in judged}:
        pair = pairs.get(key)
        if pair is None or not pair.enabled or pair.success_floor is None:
            continue
        uses = [
            use
            for use in healing.uses(runtime.journal, error_code=pair.error_code, most=200)
            if use.remedy == pair.action
        ]
        rate = below_floor(pair, uses[:_USES], limits)
        if rate is None:
            continue
        table: Any = HealingAction if pair.step_order == 1 else HealingStep
        row_key = (key[0],) if pair.step_order == 1 else key
        row = rows.table(table)[row_key]
        reason = f"it helped in {rate:.0%} of its uses, and its floor is {pair.success_floor:.0%}"
        with runtime.catalog.change(actor="healing", reason=reason) as change:
            change.put([row.with_(enabled=False)])
            runtime.journal.record(
                PairSwitchedOff(
                    actor="healing",
                    error_code=pair.error_code,
                    remedy=pair.action,
                    step_order=pair.step_order,
                    rate=rate,
                    floor=pair.success_floor,
                ),
                connection=change.connection,
            )
        off.append(pair)
    return off
