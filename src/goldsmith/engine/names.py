"""Quote names and values for SQL with sqlglot, which is imported on first use."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import DataType
    from sqlglot import Generator, exp

_LOCK = threading.Lock()


@lru_cache(maxsize=4096)
def name(*parts: str, dialect: str = "spark") -> str:
    """A dotted name with every part quoted."""
    return ".".join(_quoted(part, dialect) for part in parts)


@lru_cache(maxsize=4096)
def _quoted(part: str, dialect: str) -> str:
    from sqlglot import exp

    return _sql(exp.to_identifier(part, quoted=True), dialect)


def names(columns: Iterable[str], *, dialect: str = "spark", of: str | None = None) -> str:
    """A list of quoted columns, qualified with the table alias `of` if given."""
    head = () if of is None else (of,)
    return ", ".join(name(*head, column, dialect=dialect) for column in columns)


def literal(value: str | int, dialect: str = "spark") -> str:
    """A value as a SQL literal."""
    if isinstance(value, int):
        return str(value)
    return _text(value, dialect)


@lru_cache(maxsize=4096)
def _text(value: str, dialect: str) -> str:
    from sqlglot import exp

    return _sql(exp.Literal.string(value), dialect)


def type_name(type_: DataType) -> str:
    """A Spark type in SQL, with quoted field names."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    match type_:
        case ArrayType():
            return f"ARRAY<{type_name(type_.elementType)}>"
        case MapType():
            return f"MAP<{type_name(type_.keyType)}, {type_name(type_.valueType)}>"
        case StructType():
            fields = (f"{name(f.name)}: {type_name(f.dataType)}" for f in type_.fields)
            return f"STRUCT<{', '.join(fields)}>"
    return type_.simpleString()


def _sql(expression: exp.Expression, dialect: str) -> str:
    """Generate SQL. Generators are cached: creating one takes longer than generating."""
    with _LOCK:
        return _generator(dialect).generate(expression)


@cache
def _generator(dialect: str) -> Generator:
    from sqlglot.dialects.dialect import Dialect

    return Dialect.get_or_raise(dialect).generator()
