"""Find values that a column's type would change, so that their records are quarantined.

Spark rounds a number to the scale of a DECIMAL, reads a whole number with too many digits as an
inexact DOUBLE, truncates nanoseconds and ignores the length of a VARCHAR. A DECIMAL is read with
the largest possible scale, then compared. A DOUBLE or TIMESTAMP does not show what it lost, so
doubtful records are parsed a second time, into types that keep every digit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType, DecimalType, StructType

#: Field metadata key: the length of a VARCHAR or CHAR, which Spark's readers take as STRING.
LENGTH = "max_length"
#: Java regular expression for a fraction of a second finer than microseconds.
NANOSECONDS = r":[0-9]{2}\.[0-9]{6}[0-9]*[1-9]"
#: Additional digits after the decimal point that show whether one was lost.
_ROOM = 12
_INFINITE = r"(?i)(?:^|[:\[,\s])[\s\"+-]*inf"
_WHOLE = {"double": float(1 << 53), "float": float(1 << 24)}
_TIMES = ("timestamp", "timestamp_ntz")

#: A value, its exact twin, its type, its VARCHAR length and its path → a condition or reason.
Leaf = Callable[["Column", "Column | None", "DataType", "int | None", str], "Column | None"]


def wide(type_: DataType) -> DataType:
    """The type to read with: decimals get the largest scale that 38 digits allow."""
    from pyspark.sql.types import ArrayType, DecimalType, MapType, StructField, StructType

    match type_:
        case StructType():
            return StructType([StructField(f.name, wide(f.dataType)) for f in type_.fields])
        case ArrayType():
            return ArrayType(wide(type_.elementType))
        case MapType():
            return MapType(type_.keyType, wide(type_.valueType))
        case DecimalType() if has_room(type_):
            return DecimalType(38, 38 - (type_.precision - type_.scale))
    return type_


def has_room(type_: DecimalType) -> bool:
    """Whether a wider decimal can show that a digit is lost."""
    return 38 - type_.precision >= _ROOM


def exact(type_: DataType) -> DataType | None:
    """The parts of a type that silently lose digits, in types that keep them; None if none do."""
    from pyspark.sql.types import (
        ArrayType,
        DecimalType,
        MapType,
        StringType,
        StructField,
        StructType,
    )

    match type_:
        case StructType():
            kept = [(f.name, exact(f.dataType)) for f in type_.fields]
            fields = [StructField(name, found) for name, found in kept if found is not None]
            return StructType(fields) if fields else None
        case ArrayType():
            found = exact(type_.elementType)
            return None if found is None else ArrayType(found)
        case MapType():
            found = exact(type_.valueType)
            return None if found is None else MapType(type_.keyType, found)
    if type_.simpleString() in _WHOLE:
        return DecimalType(38, 0)
    if isinstance(type_, DecimalType) and not has_room(type_):
        # It has fewer digits before the decimal point: larger numbers are NULL in it.
        return DecimalType(38, min(38, type_.scale + _ROOM))
    return StringType() if type_.simpleString() in _TIMES else None


def has_times(type_: DataType) -> bool:
    """Whether some part of a type is a timestamp."""
    return "timestamp" in type_.simpleString()


def tight_scales(type_: DataType) -> set[int]:
    """The scales of decimals that have no room for more digits."""
    from pyspark.sql.types import ArrayType, DecimalType, MapType, StructType

    match type_:
        case StructType():
            return {scale for f in type_.fields for scale in tight_scales(f.dataType)}
        case ArrayType():
            return tight_scales(type_.elementType)
        case MapType():
            return tight_scales(type_.valueType)
        case DecimalType() if not has_room(type_):
            return {type_.scale}
    return set()


def more_digits(scale: int) -> str:
    """Java regular expression for a number with more decimals than `scale`, or an exponent."""
    return rf"[0-9]\.[0-9]{{{scale}}}[0-9]*[1-9]|[0-9][eE]-"


def doubtful(record: Column, schema: StructType) -> Column | None:
    """Whether a record's values may have lost a digit; None if no type allows such a test."""
    found = _leaves(record, None, schema, _is_doubtful)
    return reduce(or_, found) if found else None


def reasons(record: Column, twin: Column | None, schema: StructType, text: Column) -> Column:
    """The reasons why values do not fit their types; empty if all fit.

    `record` has the types of `wide`, `twin` those of `exact`, both parsed from the same text.
    """
    from pyspark.sql import functions as F

    def leaf(
        value: Column, kept: Column | None, type_: DataType, length: int | None, path: str
    ) -> Column | None:
        return misfit(value, kept, type_, length, path, text)

    return F.concat_ws(", ", *_leaves(record, twin, schema, leaf))


def misfit(
    value: Column,
    kept: Column | None,
    type_: DataType,
    length: int | None,
    path: str,
    text: Column,
) -> Column | None:
    """Why a value does not fit its type; NULL if it fits, None if the type needs no check."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import DecimalType

    type_name = type_.simpleString()
    if length is not None:
        return F.when(F.char_length(value) > length, _reason(value, path, f"VARCHAR({length})"))
    if isinstance(type_, DecimalType) and has_room(type_):
        return F.when(
            _is_rounded(value, type_), _reason(without_zeros(value), path, type_name.upper())
        )
    if isinstance(type_, DecimalType) and kept is not None:
        finer = exact(type_)
        assert finer is not None
        same = kept == kept.try_cast(type_).try_cast(finer)
        lost = F.coalesce(~same, text.rlike(more_digits(type_.scale)))
        shown = F.coalesce(without_zeros(kept), without_zeros(value))
        return F.when(value.isNotNull() & lost, _reason(shown, path, type_name.upper()))
    if type_name in _WHOLE and kept is not None:
        shown = F.coalesce(kept.cast("string"), value.cast("string"))
        return F.when(
            is_changed(value, kept, type_name, text), _reason(shown, path, type_name.upper())
        )
    if type_name in _TIMES and kept is not None:
        return F.when(
            value.isNotNull() & kept.rlike(NANOSECONDS),
            F.concat(_reason(kept, path, type_name.upper()), F.lit(", which holds microseconds")),
        )
    return None


def is_large(value: Column, type_: str) -> Column:
    """Whether a number is so large that a DOUBLE or FLOAT cannot hold every whole number."""
    from pyspark.sql import functions as F

    return F.abs(value) >= _WHOLE[type_]


def is_changed(value: Column, kept: Column, type_: str, text: Column) -> Column:
    """Whether a DOUBLE or FLOAT differs from `kept`, the same number as DECIMAL(38, 0).

    They count as equal if `kept` is the number that Java prints for it, or its BIGINT.
    """
    from pyspark.sql import functions as F

    shortest = value.cast("string").try_cast("decimal(38,0)")
    whole = F.when(F.abs(value) < float(1 << 63), value.cast("bigint"))
    same = F.coalesce(kept == shortest, F.lit(False)) | F.coalesce(
        kept.try_cast("bigint") == whole, F.lit(False)
    )
    return is_large(value, type_) & F.when(F.isnan(value), F.lit(False)).when(
        F.abs(value) == float("inf"), ~text.rlike(_INFINITE)
    ).when(kept.isNull(), text.rlike("[0-9]{39}")).otherwise(~same)


def _is_doubtful(
    value: Column, kept: Column | None, type_: DataType, length: int | None, path: str
) -> Column | None:
    from pyspark.sql import functions as F
    from pyspark.sql.types import DecimalType

    if length is not None:
        return F.coalesce(F.char_length(value) > length, F.lit(False))
    if isinstance(type_, DecimalType) and has_room(type_):
        return _is_rounded(value, type_)
    if type_.simpleString() in _WHOLE:
        return F.coalesce(is_large(value, type_.simpleString()), F.lit(False))
    return None


def _is_rounded(value: Column, type_: DecimalType) -> Column:
    return ~value.eqNullSafe(value.try_cast(type_))


def without_zeros(number: Column) -> Column:
    """A decimal without the zeros that its type adds."""
    from pyspark.sql import functions as F

    return F.regexp_replace(number.cast("string"), r"(?<=\.\d{0,40})0+$", "")


def _reason(value: Column, path: str, type_: str) -> Column:
    from pyspark.sql import functions as F

    shown = F.substring(value, 1, 100)
    return F.concat(F.lit("the value '"), shown, F.lit(f"' of {path} does not fit {type_}"))


def _leaves(
    record: Column, twin: Column | None, schema: StructType, leaf: Leaf, within: str = ""
) -> list[Column]:
    """The results of `leaf` for all values of a record, without those that are None."""
    found = []
    for field in schema.fields:
        path = f"{within}{field.name}"
        value = record.getField(field.name)
        kept = None
        if twin is not None and exact(field.dataType) is not None:
            kept = twin.getField(field.name)
        length = field.metadata.get(LENGTH)
        result = _inside(value, kept, field.dataType, length, path, leaf)
        if result is not None:
            found.append(result)
    return found


def _inside(
    value: Column,
    kept: Column | None,
    type_: DataType,
    length: int | None,
    path: str,
    leaf: Leaf,
) -> Column | None:
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, MapType, StructType

    match type_:
        case StructType():
            parts = _leaves(value, kept, type_, leaf, f"{path}.")
            return _joined(parts, leaf) if parts else None
        case ArrayType() | MapType():
            inner = type_.elementType if isinstance(type_, ArrayType) else type_.valueType
            if isinstance(type_, MapType):
                value = F.map_values(value)
                kept = None if kept is None else F.map_values(kept)
            probe = _inside(F.lit(None).cast(wide(inner)), kept, inner, length, path, leaf)
            if probe is None:
                return None

            def of(item: Column, other: Column | None) -> Column:
                result = _inside(item, other, inner, length, path, leaf)
                assert result is not None
                return result

            if leaf is _is_doubtful:
                return F.coalesce(F.exists(value, lambda item: of(item, None)), F.lit(False))
            each = (
                F.transform(value, lambda item: of(item, None))
                if kept is None
                else F.zip_with(value, kept, of)
            )
            return F.get(F.filter(each, lambda item: item.isNotNull() & (item != "")), F.lit(0))
    return leaf(value, kept, type_, length, path)


def _joined(parts: list[Column], leaf: Leaf) -> Column:
    from pyspark.sql import functions as F

    if leaf is _is_doubtful:
        return reduce(or_, parts)
    joined = F.concat_ws(", ", *parts)
    return F.when(joined != "", joined)
