"""The values of the columns together are one of the allowed combinations.

`values` lists the combinations, each a list with a value for every column. `ignore` says which
rows are left out: those with a NULL in `any` of the columns, those with NULLs in `all`, or none
(`never`). In other rows a NULL matches only a null in a listed combination."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from goldsmith.checks.check import row_check
from goldsmith.checks.errors import BadCheck
from goldsmith.checks.field import Field, Plain
from goldsmith.checks.measures import Broken
from goldsmith.checks.nulls import Ignore, not_ignored

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{columns} are no allowed combination")
def pair_in_set(
    columns: Sequence[Plain], values: Sequence[Sequence[object]], ignore: Ignore = "any"
) -> Broken:
    from pyspark.sql import functions as F

    if any(len(combination) != len(columns) for combination in values):
        problem = f"takes {len(columns)} values in each combination, one a column"
        raise BadCheck(check="pair_in_set", problems=(problem,), usage="columns, values, ignore")
    allowed = [
        reduce(and_, [_is(field, value) for field, value in zip(columns, combination, strict=True)])
        for combination in values
    ]
    found = reduce(or_, allowed, F.lit(False))
    return Broken(condition=~found, applies=not_ignored(columns, ignore))


def _is(field: Field, value: object) -> Column:
    from pyspark.sql import functions as F

    if value is None:
        return field.value.isNull()
    return F.coalesce(field.is_in([value]), F.lit(False))
