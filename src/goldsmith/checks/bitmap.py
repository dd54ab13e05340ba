"""Row conditions packed as bits of a few bigint columns, to learn which hold in any row at all.

Spark interprets observed metrics aggregate by aggregate and row by row. So a pass observes one
bit_or per mask column, and rows are counted later only for conditions that hold in some row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_MASK = "_goldsmith_bits"
_HELD = "held_word"
_BITS = 63  # without the sign bit: no mask is negative


class Bitmap:
    """Conditions by name, each true or false and never NULL."""

    def __init__(self, conditions: Mapping[str, Column]) -> None:
        self._conditions = dict(conditions)
        self._bits = {name: divmod(bit, _BITS) for bit, name in enumerate(conditions)}

    def mark(self, rows: DataFrame) -> DataFrame:
        """Add the mask columns to the rows."""
        from pyspark.sql import functions as F

        masks: dict[int, list[Column]] = {}
        for name, (mask, bit) in self._bits.items():
            marked = F.when(self._conditions[name], F.lit(1 << bit)).otherwise(F.lit(0))
            masks.setdefault(mask, []).append(marked.cast("bigint"))
        if not masks:  # Spark Connect refuses to add no columns
            return rows
        return rows.withColumns(
            {_mask_column(mask): _all_of(found) for mask, found in masks.items()}
        )

    def has(self, name: str) -> Column:
        """The condition of that name, read from the masks of marked rows."""
        from pyspark.sql import functions as F

        mask, bit = self._bits[name]
        return F.col(_mask_column(mask)).bitwiseAND(F.lit(1 << bit).cast("bigint")) != 0

    def measures(self) -> list[Column]:
        """The aggregates to observe on marked rows."""
        from pyspark.sql import functions as F

        masks = dict.fromkeys(mask for mask, _ in self._bits.values())
        return [F.bit_or(_mask_column(mask)).alias(f"{_HELD}_{mask}") for mask in masks]

    def held(self, measured: Mapping[str, Any]) -> set[str]:
        """The conditions that hold in some row, by the observed aggregates."""
        return {
            name
            for name, (mask, bit) in self._bits.items()
            if (measured[f"{_HELD}_{mask}"] or 0) >> bit & 1
        }


def plain(rows: DataFrame) -> DataFrame:
    """Marked rows without the mask columns."""
    return rows.drop(*(name for name in rows.columns if name.startswith(_MASK)))


def _mask_column(number: int) -> str:
    return f"{_MASK}_{number}"


def _all_of(found: list[Column]) -> Column:
    """The bitwise OR of all, as a balanced tree."""
    while len(found) > 1:
        pairs = [found[i : i + 2] for i in range(0, len(found), 2)]
        found = [pair[0].bitwiseOR(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return found[0]
