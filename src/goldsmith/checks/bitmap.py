"""Conditions of single rows as the bits of a few words, and which of them hold in any row at all.

What is observed on the way to a file Spark interprets, aggregate by aggregate and row by row. So
a pass observes one OR of each word, and counts rows only of conditions it says to hold somewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_WORD = "_goldsmith_bits"
_HELD = "held_word"
_BITS = 63  # the sign stays out of it: no mask is negative


class Bitmap:
    """Conditions by name, each true or false and never NULL."""

    def __init__(self, conditions: Mapping[str, Column]) -> None:
        self._conditions = dict(conditions)
        self._bits = {name: divmod(bit, _BITS) for bit, name in enumerate(conditions)}

    def mark(self, rows: DataFrame) -> DataFrame:
        """The rows with the words."""
        from pyspark.sql import functions as F

        words: dict[int, list[Column]] = {}
        for name, (word, bit) in self._bits.items():
            marked = F.when(self._conditions[name], F.lit(1 << bit)).otherwise(F.lit(0))
            words.setdefault(word, []).append(marked.cast("bigint"))
        if not words:  # Spark Connect refuses to add no columns
            return rows
        return rows.withColumns({_word(word): _all_of(found) for word, found in words.items()})

    def has(self, name: str) -> Column:
        """The condition, of marked rows."""
        from pyspark.sql import functions as F

        word, bit = self._bits[name]
        return F.col(_word(word)).bitwiseAND(F.lit(1 << bit).cast("bigint")) != 0

    def measures(self) -> list[Column]:
        """What to observe of marked rows."""
        from pyspark.sql import functions as F

        words = dict.fromkeys(word for word, _ in self._bits.values())
        return [F.bit_or(_word(word)).alias(f"{_HELD}_{word}") for word in words]

    def held(self, measured: Mapping[str, Any]) -> set[str]:
        """The conditions that hold in some row, after what was observed."""
        return {
            name
            for name, (word, bit) in self._bits.items()
            if (measured[f"{_HELD}_{word}"] or 0) >> bit & 1
        }


def plain(rows: DataFrame) -> DataFrame:
    """Marked rows without the words."""
    return rows.drop(*(name for name in rows.columns if name.startswith(_WORD)))


def _word(number: int) -> str:
    return f"{_WORD}_{number}"


def _all_of(found: list[Column]) -> Column:
    """Or of all, as a tree that is not deep."""
    while len(found) > 1:
        pairs = [found[i : i + 2] for i in range(0, len(found), 2)]
        found = [pair[0].bitwiseOR(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return found[0]
