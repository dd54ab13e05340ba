"""No two of the columns hold the same value in one row.

`ignore` says which rows are left out: those with a NULL in `any` of the columns, those with NULLs
in `all`, or none (`never`). In other rows two NULLs are the same value."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from operator import or_

from goldsmith.checks.check import row_check
from goldsmith.checks.errors import BadCheck
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Broken
from goldsmith.checks.nulls import Ignore, not_ignored


@row_check(says="{columns} hold the same value twice")
def unique_within_row(columns: Sequence[Plain], ignore: Ignore = "any") -> Broken:
    if len(columns) < 2:
        problem = "needs at least two columns"
        raise BadCheck(check="unique_within_row", problems=(problem,), usage="columns, ignore")
    same = [left.value.eqNullSafe(right.value) for left, right in combinations(columns, 2)]
    return Broken(condition=reduce(or_, same), applies=not_ignored(columns, ignore))
