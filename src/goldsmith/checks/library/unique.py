"""No two rows have the same values in the columns.

`nulls` says what a NULL among them means: `distinct` (equal to nothing), `equal` (equal to other
NULLs) or `broken` (none may be NULL). `ignore` says which rows `distinct` leaves out: those where
any of the columns is NULL, or all of them. Every row whose key occurs again is broken."""

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
