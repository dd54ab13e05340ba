"""Convert csv values to column types; records with values that would change are malformed.

Spark's reader silently rounds and truncates. Columns whose type can lose digits are read as text,
or as decimals with more digits, and converted here, where both values can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from goldsmith.engine.names import literal
from goldsmith.engine.read.exact import LENGTH, exact, has_room, misfit, wide
from goldsmith.engine.read.reading import Options

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType, StructField, StructType

#: Options that leave the values of a type to Spark's reader.
_SPARKS_OWN: Mapping[str, tuple[str, ...]] = {
    "double": ("nanValue", "positiveInf", "negativeInf"),
    "float": ("nanValue", "positiveInf", "negativeInf"),
    "timestamp": ("timestampFormat", "timeZone"),
    "timestamp_ntz": ("timestampNTZFormat",),
}
#: A time zone after a time, which a TIMESTAMP_NTZ does not hold.
_ZONE = r":[0-9]{2}(?:\.[0-9]+)?\s*[^0-9.\s]"


class CsvValues:
    """The columns of files: types to read, types wanted, and reasons for values that do not fit."""

    def __init__(self, wanted: StructType, options: Options) -> None:
        from pyspark.sql.types import StructField, StructType

        self._options = options
        self._wanted = {field.name: field for field in wanted.fields}
        #: The types to give Spark's reader.
        self.read = StructType(
            [StructField(f.name, self._read_type(f.dataType)) for f in wanted.fields]
        )

    def _read_type(self, type_: DataType) -> DataType:
        from pyspark.sql.types import DecimalType, StringType

        if isinstance(type_, DecimalType):
            is_spark = has_room(type_) or self._options.get("locale") is not None
            return wide(type_) if is_spark else StringType()
        own = _SPARKS_OWN.get(type_.simpleString())
        return type_ if own is None or self._options.get(*own) is not None else StringType()

    def value(self, field: str, column: Column) -> Column:
        """The value read, cast to the wanted type; NULL if it does not fit."""
        from pyspark.sql import functions as F

        wanted, read = self._wanted[field].dataType, self.read[field].dataType
        if wanted == read:
            return column
        if "decimal" in wanted.simpleString() and read.simpleString() == "string":
            column = F.replace(column, F.lit(","), F.lit(""))  # as Spark's reader does
        value = column.try_cast(wanted)
        if wanted.simpleString() == "timestamp_ntz":
            return F.when(~column.rlike(_ZONE), value)
        return value

    def reason(self, column: Callable[[str], Column]) -> Column | None:
        """Why a record that Spark parsed is malformed, NULL if it is not; None if none can be."""
        from pyspark.sql import functions as F

        found = [
            reason
            for field in self._wanted.values()
            for reason in self._reasons(field, column(field.name))
        ]
        return F.nullif(F.concat_ws(", ", *found), F.lit("")) if found else None

    def _reasons(self, field: StructField, column: Column) -> list[Column]:
        from pyspark.sql import functions as F

        wanted, length = field.dataType, field.metadata.get(LENGTH)
        if wanted == self.read[field.name].dataType and length is None:
            return []
        value, kept = column, None
        found = []
        if self.read[field.name].dataType.simpleString() == "string" and length is None:
            value = self.value(field.name, column)
            kept = column.try_cast(exact(wanted) or "string")
            type_ = wanted.simpleString().upper()
            no_value = F.expr(literal(f"{field.name} is no {type_}"))
            found.append(F.when(column.isNotNull() & value.isNull(), no_value))
        changed = misfit(value, kept, wanted, length, field.name, column)
        return found if changed is None else [*found, changed]
