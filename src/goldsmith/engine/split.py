"""What becomes of each row: one bitmap says which checks it breaks, and parts good from broken.

Every condition is computed once, in the projection of the pass that writes; the pass says which
of them hold in any row, and the rows written down say in how many. A row that breaks several
checks is one row: kept aside where any of them says `quarantine`, else left out where any says
`drop`.
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
from goldsmith.checks.planned import PlannedCheck

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: What becomes of a row; also the name of the folder it is staged in.
SIDE = "_goldsmith_side"
GOOD, ASIDE, OUT = 0, 1, 2
_DISCARDED = "discarded"


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """How the rows of a stage are parted."""

    evaluation: Evaluation
    #: Rows the schema policy leaves out.
    discard: Column | None = None

    @property
    def checks(self) -> Sequence[PlannedCheck]:
        """Checks that take rows out, one by one or by their keys."""
        return [one for one in self.evaluation.checks if takes_rows(one)]

    @property
    def takes_rows(self) -> bool:
        """Some rows may have to go elsewhere."""
        rows = {*self.evaluation.broken_rows(), *self.evaluation.keys()}
        return self.discard is not None or any(one.place in rows for one in self.checks)

    @property
    def bits(self) -> Bitmap:
        """Every condition of the checks and of the schema policy, to be computed once."""
        conditions = self.evaluation.conditions()
        if self.discard is not None:
            conditions[_DISCARDED] = _true(self.discard)
        return Bitmap(conditions)

    def marked(self, rows: DataFrame) -> DataFrame:
        """The rows with the words of the bitmap and what becomes of each."""
        bits = self.bits
        broken = {place: bits.has(_broken(place)) for place in self.evaluation.broken_rows()}
        discard = bits.has(_DISCARDED) if self.discard is not None else None
        return bits.mark(rows).withColumn(SIDE, side_of(self.checks, broken, discard=discard))

    def sided(self, rows: DataFrame) -> DataFrame:
        """The rows with what becomes of each, and nothing that could be observed."""
        broken = self.evaluation.broken_rows()
        discard = _true(self.discard) if self.discard is not None else None
        return rows.withColumn(SIDE, side_of(self.checks, broken, discard=discard))

    @property
    def can_wait(self) -> bool:
        """Nothing has to be observed on the way: what is asked of written rows is the same."""
        return self.evaluation.asked_once().isdisjoint(one.place for one in self.checks)

    def measures(self) -> list[Column]:
        """What to observe of marked rows: all the checks measure, and which conditions hold."""
        return self.evaluation.measures(self.bits)

    def counted(
        self, measured: Mapping[str, Any], written: Callable[[], DataFrame]
    ) -> dict[str, Any]:
        """What was observed, and for how many rows each condition holds.

        Rows are counted where they were written down, and only for conditions that hold in some;
        rows that a check took out are not among the good ones, which are most.
        """
        from pyspark.sql import functions as F

        sides = {name: F.col(SIDE) == side for name, side in (("aside", ASIDE), ("out", OUT))}
        conditions = {**self.evaluation.conditions(), **sides}
        held = self.bits.held(measured)
        taking = {_broken(one.place) for one in self.checks}
        asked = held - measured.keys() - {_DISCARDED}
        elsewhere = taking & asked
        if held & {*taking, _DISCARDED}:
            elsewhere |= sides.keys()
        plans: dict[int, DataFrame] = {}
        if elsewhere:
            plans[0] = _count(written().where(F.col(SIDE) != GOOD), conditions, elsewhere)
        if asked - elsewhere:
            plans[1] = _count(written(), conditions, asked - elsewhere)
        found: dict[str, Any] = dict.fromkeys(conditions, 0)
        for counts in collect(plans).values():
            found |= counts
        kept = measured["rows"] - found["aside"] - found["out"]
        return {**found, **measured, "kept": kept}

    def of_sides(self, written: DataFrame) -> dict[str, Any]:
        """How many rows are on each side, and how many of those not good break which check."""
        from pyspark.sql import functions as F

        conditions = self.evaluation.conditions()
        taking = {_broken(one.place) for one in self.checks} & conditions.keys()
        sides = {f"side_{side}": F.col(SIDE) == side for side in (GOOD, ASIDE, OUT)}
        plans = {0: _count(written, sides, {*sides})}
        if taking:
            plans[1] = _count(written.where(F.col(SIDE) != GOOD), conditions, taking)
        found = collect(plans)
        kept, aside, out = (found[0][name] for name in sides)
        counts = {"rows": kept + aside + out, "kept": kept, "aside": aside, "out": out}
        return {**found.get(1, {}), **counts}


def _count(rows: DataFrame, conditions: Mapping[str, Column], names: set[str]) -> DataFrame:
    from pyspark.sql import functions as F

    return rows.agg(*(F.count(F.when(conditions[name], 1)).alias(name) for name in sorted(names)))


def _broken(place: int) -> str:
    """The name under which the broken rows of a check are counted."""
    return f"broken_{place}"


def takes_rows(planned: PlannedCheck) -> bool:
    """Broken rows of the check go elsewhere; of a table, or of a total, none can."""
    if planned.on_fail not in ("quarantine", "drop") or planned.scope != "batch":
        return False
    return planned.check.is_row_check or planned.check.cost is Cost.KEYS


def side_of(
    checks: Sequence[PlannedCheck],
    broken: Mapping[int, Column],
    *,
    discard: Column | None = None,
    before: Column | None = None,
) -> Column:
    """Where a row belongs: left out by policy, kept aside, left out by a rule, or good.

    No condition is ever NULL.
    """
    from pyspark.sql import functions as F

    none = F.lit(False)
    by = {
        on_fail: reduce(
            or_,
            [broken[c.place] for c in checks if c.on_fail == on_fail and c.place in broken],
            none,
        )
        for on_fail in ("quarantine", "drop")
    }
    aside, out = by["quarantine"], by["drop"]
    left_out = none if discard is None else discard
    if before is not None:
        aside, out = aside | (before == ASIDE), out | (before == OUT)
    return F.when(left_out, OUT).when(aside, ASIDE).when(out, OUT).otherwise(GOOD)


def _true(condition: Column) -> Column:
    from pyspark.sql import functions as F

    return F.coalesce(condition, F.lit(False))
