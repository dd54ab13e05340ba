"""A planned check put to rows of a schema: columns found by name, the row condition worked in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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

#: A call, or one of the functions SQL calls by their bare name.
_CALL = re.compile(r"\(|\bcurrent_|\blocaltime|\b(session_)?user\b|\b_metadata\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Put:
    """A check and what it asks of the rows."""

    planned: PlannedCheck
    asked: Asked
    where: Column | None
    #: Two-valued, of row checks: the row is broken, the check speaks of the row.
    broken: Column | None = None
    applies: Column | None = None
    #: Somebody's SQL decides that may ask the clock, and answer otherwise when it is asked again.
    by_sql: bool = False
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
        by_sql=_by_sql(planned, fields),
        per=per,
    )


def _by_sql(planned: PlannedCheck, fields: Sequence[Field]) -> bool:
    """SQL that calls a function decides; one name of them all is not told from another."""
    return any(_CALL.search(sql) for sql in _sql(planned, fields))


def _sql(planned: PlannedCheck, fields: Sequence[Field]) -> Iterator[str]:
    """What is SQL in the settings: as such, as {sql: …}, or as a text to compare a time with."""
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
