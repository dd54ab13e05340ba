"""No two rows have the same values in the columns.

`nulls` says what a NULL among them means: `distinct` (equal to nothing), `equal` (equal to other
NULLs) or `broken` (none may be NULL)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from goldsmith.checks.check import dataset_check

if TYPE_CHECKING:
    from pyspark.sql import Column


@dataset_check(says="{columns} repeat", any_of=("columns", "column"))
def unique(
    columns: str | Sequence[str] | None = None,
    column: str | None = None,
    nulls: Literal["distinct", "equal", "broken"] = "distinct",
) -> Column:
    from pyspark.sql import functions as F

    said = columns or column or ()
    names = [said] if isinstance(said, str) else list(said)
    values = F.struct(*(F.col(name) for name in names))
    any_null = F.lit(False)
    for name in names:
        any_null = any_null | F.col(name).isNull()
    counted = F.count(F.lit(1)) if nulls == "equal" else F.count(F.when(~any_null, F.lit(1)))
    told_apart = values if nulls == "equal" else F.when(~any_null, values)
    repeats = F.count_distinct(told_apart) < counted
    return repeats | F.max(any_null) if nulls == "broken" else repeats
