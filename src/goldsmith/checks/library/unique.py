"""No two rows have the same values in the columns.

`nulls` says what a NULL means: `distinct` leaves the row out, `equal` makes NULLs equal to each
other, `broken` breaks the row. `ignore` says which rows `distinct` and `broken` concern: those with
a NULL in `any` of the columns, or in `all`. Every row whose key repeats is broken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.field import Field, fields_of
from goldsmith.checks.measures import Counted, Keys, Measured


@dataset_check(says="{columns} repeat", any_of=("columns", "column"), cost=Cost.KEYS)
def unique(
    columns: Field | Sequence[Field] | None = None,
    column: Field | None = None,
    nulls: Literal["distinct", "equal", "broken"] = "distinct",
    ignore: Literal["any", "all"] = "any",
) -> Keys:
    def judge(measured: Measured) -> Counted:
        empty = measured.get("null_rows") or 0 if nulls == "broken" else 0
        return Counted(broken=measured["repeated"] + empty, of=measured["rows"] + empty)

    fields = fields_of("unique", column, columns)
    return Keys(fields=fields, judge=judge, nulls=nulls, ignore=ignore)
