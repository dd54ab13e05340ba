"""Convert values between types, field by field inside structs, arrays and maps."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructField, StructType

#: A column and the fields inside it, with `element`, `key` and `value` as Iceberg names them.
Path = tuple[str, ...]

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_REAL = ("float", "double")


def fits(narrow: str, wide: str) -> bool:
    """Whether every value of `narrow` fits `wide`, by Iceberg's rules of type promotion."""
    for ladder in (_WHOLE, _REAL):
        if narrow in ladder and wide in ladder:
            return ladder.index(narrow) <= ladder.index(wide)
    if narrow.startswith("decimal") and wide.startswith("decimal"):
        (precision, scale), (more, same) = _decimal(narrow), _decimal(wide)
        return scale == same and precision <= more
    return False


def _decimal(type_: str) -> tuple[int, int]:
    precision, scale = type_.removeprefix("decimal(").rstrip(")").split(",")
    return int(precision), int(scale)


def as_type(rows: DataFrame, value: Column, found: DataType, wanted: DataType) -> Column:
    """Convert a value to the wanted fields and types; what cannot be converted becomes NULL."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, MapType, StructType

    if found.simpleString() == wanted.simpleString():
        return value
    match found, wanted:
        case StructType(), StructType():
            given = {f.name.lower(): f for f in found.fields}
            fields = []
            for want in wanted.fields:
                have = given.get(want.name.lower())
                field = F.lit(None).cast(want.dataType)
                if have is not None:
                    part = value.getField(have.name)
                    field = as_type(rows, part, have.dataType, want.dataType)
                fields.append(field.alias(want.name))
            return F.when(value.isNotNull(), F.struct(*fields))
        case ArrayType(), ArrayType():
            of, to = found.elementType, wanted.elementType
            return F.transform(value, lambda item: as_type(rows, item, of, to))
        case MapType(), MapType() if found.keyType == wanted.keyType:
            of, to = found.valueType, wanted.valueType
            return F.transform_values(value, lambda _, item: as_type(rows, item, of, to))
    if found.simpleString() == "void" or fits(found.simpleString(), wanted.simpleString()):
        return value.cast(wanted)
    if _is_castable(rows, found, wanted):
        return value.try_cast(wanted)
    return F.lit(None).cast(wanted)


def lost_in(
    rows: DataFrame,
    values: Iterable[tuple[Column, StructField]],
    wanted: StructType,
    *,
    new_fields: bool,
    other_types: bool,
) -> Column | None:
    """Condition for rows that lose a value: its field is not wanted, or its cast gives NULL."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, MapType, StructType

    def lost(value: Column, found: DataType, want: DataType) -> Column | None:
        if found.simpleString() == want.simpleString():
            return None
        match found, want:
            case StructType(), StructType():
                parts = [(value.getField(f.name), f) for f in found.fields]
                return lost_in(rows, parts, want, new_fields=new_fields, other_types=other_types)
            case ArrayType(), ArrayType():
                return lost_inside(value, found.elementType, want.elementType)
            case MapType(), MapType() if found.keyType == want.keyType:
                return lost_inside(F.map_values(value), found.valueType, want.valueType)
        if not other_types or fits(found.simpleString(), want.simpleString()):
            return None
        return value.isNotNull() & as_type(rows, value, found, want).isNull()

    def lost_inside(values: Column, found: DataType, want: DataType) -> Column | None:
        if lost(F.lit(None), found, want) is None:
            return None

        def is_lost(item: Column) -> Column:
            condition = lost(item, found, want)
            return F.lit(False) if condition is None else condition

        return F.coalesce(F.exists(values, is_lost), F.lit(False))

    wanted_fields = {f.name.lower(): f for f in wanted.fields}
    conditions: list[Column] = []
    for value, field in values:
        want = wanted_fields.get(field.name.lower())
        if want is not None:
            condition = lost(value, field.dataType, want.dataType)
        else:
            condition = value.isNotNull() if new_fields else None
        if condition is not None:
            conditions.append(condition)
    return reduce(or_, conditions) if conditions else None


def without_void(type_: DataType) -> DataType:
    """The type with every VOID replaced by STRING."""
    from pyspark.sql.types import ArrayType, MapType, NullType, StringType, StructField, StructType

    match type_:
        case NullType():
            return StringType()
        case ArrayType():
            return ArrayType(without_void(type_.elementType))
        case MapType():
            return MapType(without_void(type_.keyType), without_void(type_.valueType))
        case StructType():
            return StructType([StructField(f.name, without_void(f.dataType)) for f in type_])
    return type_


def _is_castable(rows: DataFrame, found: DataType, wanted: DataType) -> bool:
    """Whether Spark can cast from `found` to `wanted`, neither of them nested."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

    nested = (ArrayType, MapType, StructType, VariantType)
    if isinstance(found, nested) or isinstance(wanted, nested):
        return False  # the text of a struct is not a value of the source
    tried = F.lit(None).cast(found).try_cast(wanted)
    try:
        _ = rows.sparkSession.range(0).select(tried).schema
    except AnalysisException:
        return False
    return True
