"""A column as a check uses it: found by its name, of a type the check supports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated, Any

from goldsmith.checks.errors import (
    BadCheck,
    ColumnNotThere,
    ValueOfAnotherType,
    WrongColumnType,
)

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType, StructType

_PARTS = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
_NUMBERS = frozenset(("byte", "short", "integer", "long", "float", "double", "decimal"))
_TIMES = frozenset(("date", "timestamp", "timestamp_ntz"))
_TEXTS = frozenset(("string", "char", "varchar"))
_NESTED = frozenset(("array", "map", "struct", "variant"))

#: Kinds of columns a check can require: the description, and a test of Spark's type name.
_KINDS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "number": ("a column of numbers", _NUMBERS.__contains__),
    "time": ("a column of dates or times", _TIMES.__contains__),
    "plain": ("a column of plain values", lambda type_: type_ not in _NESTED),
    "any": ("a column", lambda type_: True),
}


@dataclass(frozen=True, kw_only=True)
class Field:
    """A column of the rows a check is evaluated on."""

    check: str
    name: str
    type: DataType
    #: The column; in a dataset check it is NULL where the check's `where` does not hold.
    value: Column

    @property
    def is_text(self) -> bool:
        return self.type.typeName() in _TEXTS

    @property
    def is_time(self) -> bool:
        return self.type.typeName() in _TIMES

    @property
    def is_number(self) -> bool:
        return self.type.typeName() in _NUMBERS

    def is_like(self, other: Field) -> bool:
        """The values of both columns can be compared."""
        kinds = ("is_number", "is_text", "is_time")
        return self.type == other.type or any(
            getattr(self, kind) and getattr(other, kind) for kind in kinds
        )

    def by_day(self) -> Field:
        """The column cast to dates if it holds dates or times; otherwise unchanged."""
        from pyspark.sql.types import DateType

        return (
            replace(self, type=DateType(), value=self.value.cast("date")) if self.is_time else self
        )

    @property
    def text(self) -> Column:
        """The values as text."""
        return self.value if self.is_text else self.value.cast("string")

    def literal(self, value: Any) -> Column:
        """A value of the settings as an expression to compare the column with.

        A mapping {sql: …} is an SQL expression. So is, for a column of times, a text that is no
        ISO date or time: `now() - interval '24 hours'`.
        """
        from pyspark.sql import functions as F

        if isinstance(value, dict):
            return F.expr(str(next(iter(value.values()))))
        if value is None:
            return F.lit(None).cast(self.type)
        if self.is_time and isinstance(value, str):
            moment = as_moment(value)
            if moment is None:
                return F.expr(value)
            return F.lit(value.strip()).cast("timestamp" if _has_time(value) else self.type)
        if not self._compares_with(value):
            raise ValueOfAnotherType(
                check=self.check, column=self.name, type=self.type.simpleString(), value=repr(value)
            )
        if self.is_number and isinstance(value, str):
            return F.lit(Decimal(value))
        if self.type.typeName() == "boolean":
            return F.lit(str(value).lower() == "true")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            return F.lit(Decimal(value))
        return F.lit(value)

    def is_in(self, values: Sequence[Any]) -> Column:
        """The column's value is one of these; values of another type are ignored."""
        from pyspark.sql import functions as F

        alike = [
            self.literal(value)
            for value in values
            if value is not None and (isinstance(value, dict) or self._can_equal(value))
        ]
        return self.value.isin(*alike) if alike else self.value.isNotNull() & F.lit(False)

    def _can_equal(self, value: Any) -> bool:
        if self.is_time and isinstance(value, str):
            return as_moment(value) is not None
        return self._compares_with(value)

    def _compares_with(self, value: Any) -> bool:
        kind = self.type.typeName()
        if self.is_text:
            return isinstance(value, str)
        if kind == "boolean":
            return isinstance(value, bool) or str(value).lower() in ("true", "false")
        if self.is_number:
            return _is_number(value)
        if self.is_time:
            return isinstance(value, date)
        return not isinstance(value, dict)


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        try:
            return Decimal(value).is_finite()
        except InvalidOperation:
            return False
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def as_moment(text: str) -> datetime | None:
    """Parse a date or a time in ISO form; None where the text is something else."""
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def _has_time(text: str) -> bool:
    return len(text.strip()) > len("2026-01-01")


@dataclass(frozen=True)
class OfKind:
    """Annotation of a parameter: the kind of column it accepts."""

    kind: str

    @property
    def description(self) -> str:
        return _KINDS[self.kind][0]

    def takes(self, type_: DataType) -> bool:
        return _KINDS[self.kind][1](type_.typeName())


Number = Annotated[Field, OfKind("number")]
Time = Annotated[Field, OfKind("time")]
Plain = Annotated[Field, OfKind("plain")]


def find(
    schema: StructType, name: str, *, check: str, needs: OfKind | None = None
) -> tuple[str, DataType]:
    """Find a column by name: its path quoted for Spark, and its type.

    `a.b` means a column of that name before the field b of a column a; backticks disambiguate.
    """
    path, type_ = _path(schema, name, check)
    if needs is not None and not needs.takes(type_):
        raise WrongColumnType(
            check=check, column=name, type=type_.simpleString(), wanted=needs.description
        )
    return ".".join(f"`{part.replace('`', '``')}`" for part in path), type_


def _path(schema: StructType, name: str, check: str) -> tuple[list[str], DataType]:
    from pyspark.sql.types import StructType

    for parts in ([name], [plain or quoted.replace("``", "`") for quoted, plain in _split(name)]):
        path: list[str] = []
        type_: DataType = schema
        for part in parts:
            if not isinstance(type_, StructType):
                break
            found = _named(type_, part)
            if found is None:
                break
            path.append(found)
            type_ = type_[found].dataType
        if len(path) == len(parts) and parts:
            return path, type_
    raise ColumnNotThere(check=check, column=name, known=tuple(schema.fieldNames()))


def fields_of(
    check: str, column: Field | None, columns: Field | Sequence[Field] | None
) -> list[Field]:
    """The columns of a check that has the settings `column` and `columns`."""
    given = [columns] if isinstance(columns, Field) else list(columns or ())
    found = [*given, *([column] if column is not None else [])]
    if not found:
        problem = "needs the setting column or columns"
        raise BadCheck(check=check, problems=(problem,), usage="column or columns")
    return found


def _split(name: str) -> Iterator[tuple[str, str]]:
    return ((match[1] or "", match[2] or "") for match in _PARTS.finditer(name))


def _named(schema: StructType, name: str) -> str | None:
    names = schema.fieldNames()
    if name in names:
        return name
    alike = [known for known in names if known.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None
