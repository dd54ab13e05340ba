"""The columns are exactly these, in any order; a mapping gives their types too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from goldsmith.checks.check import dataset_check

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


@dataset_check(says="the columns are not {columns}")
def schema_match(schema: StructType, /, columns: Sequence[str] | Mapping[str, str]) -> list[str]:
    found = {field.name.lower(): field.dataType.simpleString() for field in schema.fields}
    wanted = {name.lower(): name for name in columns}
    differences = [f"{name} is missing" for low, name in wanted.items() if low not in found]
    differences += [f"{name} is not expected" for name in found if name not in wanted]
    if isinstance(columns, dict):
        differences += [
            f"{name} is {found[name.lower()]}, not {type_}"
            for name, type_ in columns.items()
            if name.lower() in found and found[name.lower()] != type_.lower()
        ]
    return differences
