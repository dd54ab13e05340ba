"""There is a column of that name; if `index` is given, at that position, 0 for the first."""

from __future__ import annotations

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.measures import Judged, KnownTotals, Rows
from goldsmith.checks.schemas import spelt


@dataset_check(says="there is no column {column} there", cost=Cost.NOTHING)
def column_exists(
    rows: Rows, /, column: str, index: int | None = None, case_sensitive: bool = False
) -> KnownTotals:
    names = [spelt(name, case_sensitive) for name in rows.schema.fieldNames()]
    wanted = spelt(column, case_sensitive)
    holds = wanted in names and (index is None or names.index(wanted) == index)
    return KnownTotals(judged=Judged(holds=holds, observed=rows.schema.fieldNames()))
