"""Bind a planned check to a schema: find its columns by name and apply its row condition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from goldsmith.checks.context import Context
from goldsmith.checks.field import Field, OfKind, find
from goldsmith.checks.measures import Broken, Measurement, Rows
from goldsmith.checks.partitions import columns_of
from goldsmith.checks.planned_check import PlannedCheck

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import StructType

#: A function call, an SQL function called without parentheses, or the `_metadata` column.
_CALL = re.compile(r"\(|\bcurrent_|\blocaltime|\b(session_)?user\b|\b_metadata\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class BoundCheck:
    """A planned check and what it measures on rows of one schema."""

    planned: PlannedCheck
    measurement: Measurement
    where: Column | None
    #: Of row checks, never NULL: the row is broken; the check applies to the row.
    broken: Column | None = None
    applies: Column | None = None
    #: The user's SQL calls a function such as now() and may give another result next time.
    by_sql: bool = False
    #: Partition columns, where the check's threshold holds per partition.
    per: list[Column] = field(default_factory=list)

    @property
    def index(self) -> int:
        return self.planned.index


def bind_check(planned: PlannedCheck, schema: StructType, context: Context) -> BoundCheck:
    """Bind the check to a schema; raises where its columns or their types do not fit."""
    from pyspark.sql import functions as F

    where = None
    if planned.where is not None:
        where = F.coalesce(F.expr(planned.where), F.lit(False))
    settings, fields = _with_fields(planned, schema, where)
    per = columns_of(planned, schema)
    given = {"rows": Rows(schema=schema, where=where), "context": context}
    injected = [given[name] for name in planned.check.injected]
    measurement = planned.check.function(*injected, **settings)
    if not planned.check.is_row_check:
        return BoundCheck(planned=planned, measurement=measurement, where=where)
    if not isinstance(measurement, Broken):
        measurement = Broken(condition=measurement)
    applies = measurement.applies
    if applies is None:
        # A NULL breaks only checks of NULLs; those set `applies` themselves.
        applies = reduce(and_, [field.value.isNotNull() for field in fields], F.lit(True))
    applies = applies if where is None else where & applies
    applies = F.coalesce(applies, F.lit(False))
    return BoundCheck(
        planned=planned,
        measurement=measurement,
        where=where,
        broken=applies & F.coalesce(measurement.condition, F.lit(False)),
        applies=applies,
        by_sql=_by_sql(planned, fields),
        per=per,
    )


def _by_sql(planned: PlannedCheck, fields: Sequence[Field]) -> bool:
    """Any SQL in the settings calls a function; deterministic functions count too."""
    return any(_CALL.search(sql) for sql in _sql(planned, fields))


def _sql(planned: PlannedCheck, fields: Sequence[Field]) -> Iterator[str]:
    """All SQL in the settings: `where`, `sql`, {sql: …}, and texts compared with a time column."""
    if planned.where is not None:
        yield planned.where
    has_time = any(field.is_time for field in fields)
    for name, value in planned.settings.items():
        if planned.check.settings[name].needs is not None:
            continue
        for item in value if isinstance(value, list | tuple) else [value]:
            if isinstance(item, dict):
                yield from map(str, item.values())
            elif isinstance(item, str) and (has_time or name == "sql"):
                yield item


def _with_fields(
    planned: PlannedCheck, schema: StructType, where: Column | None
) -> tuple[dict[str, Any], list[Field]]:
    """The settings with fields in place of column names, and all these fields."""
    check = planned.check
    # The columns of a dataset check are NULL where its `where` fails: aggregates skip NULLs.
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
            settings[name] = [_field(check.name, schema, column, needs, hidden) for column in value]
            fields += settings[name]
    return settings, fields


def _field(check: str, schema: StructType, name: str, needs: OfKind, where: Column | None) -> Field:
    from pyspark.sql import functions as F

    quoted, type_ = find(schema, name, check=check, needs=needs)
    value = F.col(quoted) if where is None else F.when(where, F.col(quoted))
    return Field(check=check, name=name, type=type_, value=value)
