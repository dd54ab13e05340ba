"""The columns are exactly these, in this order."""

from __future__ import annotations

from collections.abc import Sequence

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.measures import Judged, KnownTotals, Rows
from goldsmith.checks.schemas import spelt


@dataset_check(says="the columns are not {columns} in this order", cost=Cost.NOTHING)
def column_order(
    rows: Rows, /, columns: Sequence[str], case_sensitive: bool = False
) -> KnownTotals:
    names = rows.schema.fieldNames()
    ours = [spelt(name, case_sensitive) for name in names]
    wanted = [spelt(name, case_sensitive) for name in columns]
    return KnownTotals(
        judged=Judged(holds=ours == wanted, observed=names, expected=f"{list(columns)}")
    )
