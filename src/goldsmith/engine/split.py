"""What becomes of each row: one bitmap says which checks it breaks, and parts good from broken.

Every condition is computed once, in the projection of the pass that writes; the counts of each
check are counts of its bit. A row that breaks several checks is one row: kept aside where any of
them says `quarantine`, else left out where any says `drop`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from goldsmith.checks.check import Cost
from goldsmith.checks.evaluate import Evaluation
from goldsmith.checks.planned import PlannedCheck

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: What becomes of a row; also the name of the folder it is staged in.
SIDE = "_goldsmith_side"
GOOD, ASIDE, OUT = 0, 1, 2
_WORD = "_goldsmith_broken"
_BITS = 63  # the sign stays out of it: no mask is negative


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
        return any(one.place in rows for one in self.checks)

    def marked(self, rows: DataFrame) -> DataFrame:
        """The rows with the words of the bitmap and what becomes of each."""
        from pyspark.sql import functions as F

        broken = self.evaluation.broken_rows()
        bits = {place: divmod(bit, _BITS) for bit, place in enumerate(broken)}
        words: dict[int, list[Column]] = {}
        for place, (word, bit) in bits.items():
            marked = F.when(broken[place], F.lit(1 << bit)).otherwise(F.lit(0)).cast("bigint")
            words.setdefault(word, []).append(marked)
        columns = {_word(word): _all_of(found) for word, found in words.items()}
        if columns:  # a stage may have no checks, and Spark Connect refuses to add no columns
            rows = rows.withColumns(columns)
        return rows.withColumn(SIDE, self._side(self._bits(bits)))

    def measures(self) -> list[Column]:
        """What to observe of marked rows: all the checks measure, and the rows of each side."""
        from pyspark.sql import functions as F

        bits = {
            place: divmod(bit, _BITS) for bit, place in enumerate(self.evaluation.broken_rows())
        }
        sides = {"kept": GOOD, "aside": ASIDE, "out": OUT}
        return [
            *self.evaluation.measures(self._bits(bits)),
            *(F.count(F.when(F.col(SIDE) == side, 1)).alias(name) for name, side in sides.items()),
        ]

    @staticmethod
    def plain(rows: DataFrame) -> DataFrame:
        """Marked rows without the bitmap."""
        return rows.drop(*(name for name in rows.columns if name.startswith(_WORD)))

    def _bits(self, bits: Mapping[int, tuple[int, int]]) -> dict[int, Column]:
        from pyspark.sql import functions as F

        return {
            place: F.col(_word(word)).bitwiseAND(F.lit(1 << bit).cast("bigint")) != 0
            for place, (word, bit) in bits.items()
        }

    def _side(self, broken: Mapping[int, Column]) -> Column:
        return side_of(self.checks, broken, discard=self.discard)


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
    """Where a row belongs: left out by policy, kept aside, left out by a rule, or good."""
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
    left_out = none if discard is None else F.coalesce(discard, none)
    if before is not None:
        aside, out = aside | (before == ASIDE), out | (before == OUT)
    return F.when(left_out, OUT).when(aside, ASIDE).when(out, OUT).otherwise(GOOD)


def _word(number: int) -> str:
    return f"{_WORD}_{number}"


def _all_of(found: list[Column]) -> Column:
    """Or of all, as a tree that is not deep."""
    while len(found) > 1:
        pairs = [found[i : i + 2] for i in range(0, len(found), 2)]
        found = [pair[0].bitwiseOR(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return found[0]
