"""The columns are the ones there were; new nullable ones only where that is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.check import dataset_check

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


@dataset_check(says="the schema is not the one there was")
def schema_evolution(
    before: StructType, now: StructType, /, allow_nullable_addition: bool = False
) -> list[str]:
    old = {field.name.lower(): field for field in before.fields}
    new = {field.name.lower(): field for field in now.fields}
    differences = [f"{old[name].name} is gone" for name in old if name not in new]
    differences += [
        f"{new[name].name} was {old[name].dataType.simpleString()} and is"
        f" {new[name].dataType.simpleString()}"
        for name in new
        if name in old and new[name].dataType != old[name].dataType
    ]
    return differences + [
        f"{field.name} is new"
        for name, field in new.items()
        if name not in old and not (allow_nullable_addition and field.nullable)
    ]
