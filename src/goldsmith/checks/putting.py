"""A planned check put to rows of a schema: columns found by name, the row condition worked in."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from goldsmith.checks.context import Context
from goldsmith.checks.field import Field, OfKind, find
from goldsmith.checks.measures import Asked, Broken, Rows
from goldsmith.checks.partitions import columns_of
from goldsmith.checks.planned import PlannedCheck

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import StructType


@dataclass(frozen=True, kw_only=True)
class Put:
    """A check and what it asks of the rows."""

    planned: PlannedCheck
    asked: Asked
    where: Column | None
    #: Two-valued, of row checks: the row is broken, the check speaks of the row.
    broken: Column | None = None
    applies: Column | None = None
    #: What parts the rows where the check's threshold holds for each part.
    per: list[Column] = field(default_factory=list)

    @property
    def place(self) -> int:
        return self.planned.place


def put(planned: PlannedCheck, schema: StructType, context: Context) -> Put:
    """The check's question; raises where it cannot be put to such rows."""
    from pyspark.sql import functions as F

    where = None
    if planned.where is not None:
        where = F.coalesce(F.expr(planned.where), F.lit(False))
    settings, fields = _with_fields(planned, schema, where)
    per = columns_of(planned, schema)
    given = {"rows": Rows(schema=schema, where=where), "context": context}
    handed = [given[name] for name in planned.check.handed]
    asked = planned.check.function(*handed, **settings)
    if not planned.check.is_row_check:
        return Put(planned=planned, asked=asked, where=where)
    if not isinstance(asked, Broken):
        asked = Broken(condition=asked)
    applies = asked.applies
    if applies is None:
        # A NULL breaks only the checks that speak of NULL.
        applies = reduce(and_, [field.value.isNotNull() for field in fields], F.lit(True))
    applies = applies if where is None else where & applies
    applies = F.coalesce(applies, F.lit(False))
    return Put(
        planned=planned,
        asked=asked,
        where=where,
        broken=applies & F.coalesce(asked.condition, F.lit(False)),
        applies=applies,
        per=per,
    )


def _with_fields(
    planned: PlannedCheck, schema: StructType, where: Column | None
) -> tuple[dict[str, Any], list[Field]]:
    """The settings, with columns where they name columns."""
    check = planned.check
    # A check over all rows has its row condition in the values: aggregates leave NULLs out.
    hidden = None if check.is_row_check else where
    settings = dict(planned.settings)
    fields: list[Field] = []
    for name, value in planned.settings.items():
        needs = check.settings[name].needs
        if needs is None or value is None:
            continue
        if isinstance(value, str):
            settings[name] = _field(check.name, schema, value, needs, hidden)
            fields.append(settings[name])
        else:
            settings[name] = [_field(check.name, schema, one, needs, hidden) for one in value]
            fields += settings[name]
    return settings, fields


def _field(check: str, schema: StructType, name: str, needs: OfKind, where: Column | None) -> Field:
    from pyspark.sql import functions as F

    quoted, type_ = find(schema, name, check=check, needs=needs)
    value = F.col(quoted) if where is None else F.when(where, F.col(quoted))
    return Field(check=check, name=name, type=type_, value=value)
