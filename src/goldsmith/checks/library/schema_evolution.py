"""Columns and types are unchanged; `allow_nullable_addition` allows new nullable columns."""

from __future__ import annotations

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.context import Context
from goldsmith.checks.measures import KnownTotals, Rows
from goldsmith.checks.schemas import differences_between, known


@dataset_check(says="the schema is not the one there was", cost=Cost.NOTHING)
def schema_evolution(
    rows: Rows, context: Context, /, allow_nullable_addition: bool = False
) -> KnownTotals:
    if context.schema_before is None:
        return known(())
    return known(
        differences_between(
            context.schema_before, rows.schema, allow_nullable_addition=allow_nullable_addition
        )
    )
