"""`column operator other` holds in each row; `operator` is `=`, `!=`, `<`, `<=`, `>` or `>=`.

`ignore` says which rows are left out: those with a NULL in `any` of the two columns, those with
NULLs in `all`, or none (`never`). In other rows a NULL equals only NULL, and `<`, `<=`, `>` and
`>=` never break on a NULL."""

from __future__ import annotations

import operator
from typing import Literal

from goldsmith.checks.check import row_check
from goldsmith.checks.errors import ValueOfAnotherType
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Broken
from goldsmith.checks.nulls import Ignore, not_ignored

_OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@row_check(says="{column} {operator} {other} does not hold")
def compare_columns(
    column: Plain,
    operator: Literal["=", "!=", "<", "<=", ">", ">="],
    other: Plain,
    ignore: Ignore = "any",
) -> Broken:
    if not column.is_like(other):
        raise ValueOfAnotherType(
            check="compare_columns",
            column=column.name,
            type=column.type.simpleString(),
            value=f"'{other.name}' of type {other.type.simpleString()}",
        )
    if operator in ("=", "!="):
        alike = column.value.eqNullSafe(other.value)
        broken = ~alike if operator == "=" else alike
    else:
        broken = ~_OPERATORS[operator](column.value, other.value)
    return Broken(condition=broken, applies=not_ignored([column, other], ignore))
