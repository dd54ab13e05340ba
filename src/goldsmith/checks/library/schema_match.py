"""The columns are exactly these, in any order; a mapping of names to types checks types, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.measures import KnownTotals, Rows
from goldsmith.checks.schemas import known, same_type


@dataset_check(says="the columns are not {columns}", cost=Cost.NOTHING)
def schema_match(rows: Rows, /, columns: Sequence[str] | Mapping[str, str]) -> KnownTotals:
    found = {field.name.lower(): field for field in rows.schema.fields}
    wanted = {name.lower(): name for name in columns}
    differences = [f"{name} is missing" for low, name in wanted.items() if low not in found]
    differences += [f"{found[low].name} is not expected" for low in found if low not in wanted]
    if isinstance(columns, dict):
        differences += [
            f"{name} is {found[name.lower()].dataType.simpleString()}, not {type_}"
            for name, type_ in columns.items()
            if name.lower() in found and not same_type(found[name.lower()].dataType, type_)
        ]
    return known(differences)
