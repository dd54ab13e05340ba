"""Find nested JSON objects with duplicate names, or names in another case than the schema's.

Spark silently takes the last of two values with one name, and no value if the case differs. Only
parsing an object as a map shows its names, so a cheap test first finds the records that may have
such an object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType, StructType


class _Each(Enum):
    """Every element of an array, or every value of a map."""

    ELEMENT = "element"
    VALUE = "value"


Step = str | _Each
#: The path of an object in a record, and its fields; None for a map, which has any keys.
_Object = tuple[tuple[Step, ...], tuple[str, ...] | None]


def has_objects(schema: StructType) -> bool:
    """Whether records have nested objects."""
    return next(_objects(schema, ()), None) is not None


def may_be_odd(text: Column, schema: StructType) -> Column:
    """Whether an object of a text may have a duplicate name or a name in another case."""
    from pyspark.sql import functions as F

    # try_parse_json refuses objects with a duplicate name.
    twice = F.try_parse_json(text).isNull()
    return twice | text.rlike(_misspelt(schema))


def odd(wrapped: Column, many: str, schema: StructType, options: dict[str, str]) -> Column:
    """The reason why a nested object of a text's records is odd; NULL if none is."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructField, StructType

    found = F.lit(None).cast("string")
    for steps, names in _objects(schema, ()):
        shape = StructType([StructField(many, _type_of((_Each.ELEMENT, *steps)))])
        records = F.from_json(wrapped, shape, options)[many]
        path = ".".join(step for step in steps if isinstance(step, str))
        twice = _holds(records, (_Each.ELEMENT, *steps), _has_twice)
        resolved = F.when(twice, F.lit(f"it has several values of one name in {path}"))
        if names is not None:
            has_other = partial(_has_other, names=names)
            other = _holds(records, (_Each.ELEMENT, *steps), has_other)
            reason = f"fields of {path} are spelt otherwise than in the schema"
            resolved = resolved.when(other, F.lit(reason))
        found = F.coalesce(found, resolved)
    return found


def _objects(type_: DataType, steps: tuple[Step, ...]) -> Iterator[_Object]:
    from pyspark.sql.types import ArrayType, MapType, StructType

    match type_:
        case StructType():
            if steps:
                yield steps, tuple(type_.names)
            for field in type_.fields:
                yield from _objects(field.dataType, (*steps, field.name))
        case ArrayType():
            yield from _objects(type_.elementType, (*steps, _Each.ELEMENT))
        case MapType():
            yield steps, None
            yield from _objects(type_.valueType, (*steps, _Each.VALUE))


def _type_of(steps: tuple[Step, ...]) -> DataType:
    """The type that reads the object at the end of a path as a map of strings."""
    from pyspark.sql.types import ArrayType, MapType, StringType, StructField, StructType

    found: DataType = MapType(StringType(), StringType())
    for step in reversed(steps):
        match step:
            case _Each.ELEMENT:
                found = ArrayType(found)
            case _Each.VALUE:
                found = MapType(StringType(), found)
            case str():
                found = StructType([StructField(step, found)])
    return found


def _holds(value: Column, steps: tuple[Step, ...], condition: Callable[[Column], Column]) -> Column:
    from pyspark.sql import functions as F

    if not steps:
        return condition(value)
    step, *rest = steps
    left = tuple(rest)
    if isinstance(step, str):
        return _holds(value.getField(step), left, condition)
    values = F.map_values(value) if step is _Each.VALUE else value
    inside = F.exists(values, lambda item: _holds(item, left, condition))
    return F.coalesce(inside, F.lit(False))


def _has_twice(found: Column) -> Column:
    from pyspark.sql import functions as F

    keys = F.map_keys(found)
    return F.coalesce(F.size(keys) > F.size(F.array_distinct(keys)), F.lit(False))


def _has_other(found: Column, names: tuple[str, ...]) -> Column:
    from pyspark.sql import functions as F

    lowered = [name.lower() for name in names]
    is_other = F.exists(
        F.map_keys(found), lambda key: F.lower(key).isin(lowered) & ~key.isin(list(names))
    )
    return F.coalesce(is_other, F.lit(False))


def _misspelt(schema: StructType) -> str:
    """Java regular expression for a name of the schema in another case."""
    names = dict.fromkeys(schema.names)
    for _, found in _objects(schema, ()):
        names |= dict.fromkeys(found or ())
    exact = "|".join(_quoted(name) for name in names)
    return rf'"(?!(?:{exact})")(?iu:{exact})"\s*:'


def _quoted(name: str) -> str:
    return re.sub(r"[^\w]", lambda char: f"\\x{{{ord(char[0]):x}}}", name)
