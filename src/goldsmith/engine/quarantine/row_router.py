"""Route each row: publish it, quarantine it or drop it, by the checks that it breaks.

The pass that writes the rows computes every condition once, into a bitmap per row. Its observed
metrics tell which conditions hold in any row; the staged rows tell in how many. A row that breaks
several checks is quarantined if any has on_fail `quarantine`, else dropped if any has `drop`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from goldsmith.checks.bitmap import Bitmap
from goldsmith.checks.check import Cost
from goldsmith.checks.evaluate import Evaluation
from goldsmith.checks.keys import collect
from goldsmith.checks.planned_check import PlannedCheck

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: The column with the route of a row; also the name of its staging folder.
ROUTE = "_goldsmith_side"
GOOD, QUARANTINE, DROP = 0, 1, 2
_DISCARDED = "discarded"


@dataclass(frozen=True, kw_only=True, slots=True)
class RowRouter:
    """Routes the rows of a stage."""

    evaluation: Evaluation
    #: Rows that the schema policy drops.
    discard: Column | None = None

    @property
    def checks(self) -> Sequence[PlannedCheck]:
        """Checks that quarantine or drop rows, by row or by key."""
        return [check for check in self.evaluation.checks if takes_rows(check)]

    @property
    def takes_rows(self) -> bool:
        """Whether some rows may be quarantined or dropped."""
        rows = {*self.evaluation.broken_rows(), *self.evaluation.keys()}
        return self.discard is not None or any(check.index in rows for check in self.checks)

    @property
    def bits(self) -> Bitmap:
        """A bitmap of all conditions of the checks and of the schema policy."""
        conditions = self.evaluation.conditions()
        if self.discard is not None:
            conditions[_DISCARDED] = _true(self.discard)
        return Bitmap(conditions)

    def marked(self, rows: DataFrame) -> DataFrame:
        """The rows with the bitmap columns and the route."""
        bits = self.bits
        broken = {index: bits.has(_broken(index)) for index in self.evaluation.broken_rows()}
        discard = bits.has(_DISCARDED) if self.discard is not None else None
        return bits.mark(rows).withColumn(ROUTE, route_of(self.checks, broken, discard=discard))

    def sided(self, rows: DataFrame) -> DataFrame:
        """The rows with the route, without the bitmap columns."""
        broken = self.evaluation.broken_rows()
        discard = _true(self.discard) if self.discard is not None else None
        return rows.withColumn(ROUTE, route_of(self.checks, broken, discard=discard))

    @property
    def can_wait(self) -> bool:
        """Whether the routing conditions are deterministic and may be evaluated on staged rows."""
        return self.evaluation.nondeterministic().isdisjoint(check.index for check in self.checks)

    def measures(self) -> list[Column]:
        """The metrics to observe on marked rows: all measures, and which conditions hold."""
        return self.evaluation.measures(self.bits)

    def counted(
        self, measured: Mapping[str, Any], written: Callable[[], DataFrame]
    ) -> dict[str, Any]:
        """The observed metrics, and for how many rows each condition holds.

        Counts come from the staged rows, only for conditions that hold in some row. For checks
        that route rows, the good rows, which are most, are not read.
        """
        from pyspark.sql import functions as F

        sides = {
            name: F.col(ROUTE) == side
            for name, side in (("quarantined", QUARANTINE), ("dropped", DROP))
        }
        conditions = {**self.evaluation.conditions(), **sides}
        true_conditions = self.bits.held(measured)
        taking = {_broken(check.index) for check in self.checks}
        uncounted = true_conditions - measured.keys() - {_DISCARDED}
        elsewhere = taking & uncounted
        if true_conditions & {*taking, _DISCARDED}:
            elsewhere |= sides.keys()
        plans: dict[int, DataFrame] = {}
        if elsewhere:
            plans[0] = _count(written().where(F.col(ROUTE) != GOOD), conditions, elsewhere)
        if uncounted - elsewhere:
            plans[1] = _count(written(), conditions, uncounted - elsewhere)
        found: dict[str, Any] = dict.fromkeys(conditions, 0)
        for counts in collect(plans).values():
            found |= counts
        good = measured["rows"] - found["quarantined"] - found["dropped"]
        return {**found, **measured, "good": good}

    def of_sides(self, written: DataFrame) -> dict[str, Any]:
        """Count the rows of each route, and the quarantined and dropped rows of each check."""
        from pyspark.sql import functions as F

        conditions = self.evaluation.conditions()
        taking = {_broken(check.index) for check in self.checks} & conditions.keys()
        sides = {f"side_{side}": F.col(ROUTE) == side for side in (GOOD, QUARANTINE, DROP)}
        plans = {0: _count(written, sides, {*sides})}
        if taking:
            plans[1] = _count(written.where(F.col(ROUTE) != GOOD), conditions, taking)
        found = collect(plans)
        good, quarantined, dropped = (found[0][name] for name in sides)
        counts = {
            "rows": good + quarantined + dropped,
            "good": good,
            "quarantined": quarantined,
            "dropped": dropped,
        }
        return {**found.get(1, {}), **counts}


def _count(rows: DataFrame, conditions: Mapping[str, Column], names: set[str]) -> DataFrame:
    from pyspark.sql import functions as F

    return rows.agg(*(F.count(F.when(conditions[name], 1)).alias(name) for name in sorted(names)))


def _broken(index: int) -> str:
    """The name under which the broken rows of a check are counted."""
    return f"broken_{index}"


def takes_rows(planned: PlannedCheck) -> bool:
    """Whether the check quarantines or drops rows; checks of tables and totals cannot."""
    if planned.on_fail not in ("quarantine", "drop") or planned.scope != "batch":
        return False
    return planned.check.is_row_check or planned.check.cost is Cost.KEYS


def route_of(
    checks: Sequence[PlannedCheck],
    broken: Mapping[int, Column],
    *,
    discard: Column | None = None,
    before: Column | None = None,
) -> Column:
    """The route of a row: dropped by policy, else quarantined, else dropped by a check, else good.

    No condition may be NULL.
    """
    from pyspark.sql import functions as F

    none = F.lit(False)
    by = {
        on_fail: reduce(
            or_,
            [broken[c.index] for c in checks if c.on_fail == on_fail and c.index in broken],
            none,
        )
        for on_fail in ("quarantine", "drop")
    }
    quarantined, dropped = by["quarantine"], by["drop"]
    left_out = none if discard is None else discard
    if before is not None:
        quarantined, dropped = quarantined | (before == QUARANTINE), dropped | (before == DROP)
    return F.when(left_out, DROP).when(quarantined, QUARANTINE).when(dropped, DROP).otherwise(GOOD)


def _true(condition: Column) -> Column:
    from pyspark.sql import functions as F

    return F.coalesce(condition, F.lit(False))
