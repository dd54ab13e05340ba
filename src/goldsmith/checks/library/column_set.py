"""The columns are these, in any order; without `exact` there may be others too."""

from __future__ import annotations

from collections.abc import Sequence

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.measures import Judged, KnownTotals, Rows
from goldsmith.checks.schemas import spelt


@dataset_check(says="the columns are not {columns}", cost=Cost.NOTHING)
def column_set(
    rows: Rows, /, columns: Sequence[str], exact: bool = True, case_sensitive: bool = False
) -> KnownTotals:
    names = rows.schema.fieldNames()
    ours = {spelt(name, case_sensitive) for name in names}
    wanted = {spelt(name, case_sensitive) for name in columns}
    holds = ours == wanted if exact else wanted <= ours
    return KnownTotals(judged=Judged(holds=holds, observed=names, expected=f"{list(columns)}"))
