"""Convert Avro schemas to Spark schemas, by the rules of Spark's Avro reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_PLAIN = {
    "null": "void",
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "bytes": "binary",
    "string": "string",
    "enum": "string",
    "fixed": "binary",
}
#: Logical types that map to another Spark type; all others are ignored.
_LOGICAL = {
    ("int", "date"): "date",
    ("long", "timestamp-millis"): "timestamp",
    ("long", "timestamp-micros"): "timestamp",
    ("long", "timestamp-nanos"): "timestamp",
    ("long", "local-timestamp-millis"): "timestamp_ntz",
    ("long", "local-timestamp-micros"): "timestamp_ntz",
}
#: A decimal wider than this is read as its bytes.
_MOST_DIGITS = 38


def struct_of(definition: Any) -> StructType:
    """The columns of a record; raises ValueError for a definition that cannot be used."""
    from pyspark.sql.types import StructType

    found = _Names().type_of(definition, "")
    if not isinstance(found, StructType):
        raise ValueError("its outermost type is no record")
    return found


class _Names:
    """The named types of a definition, which later parts may refer to."""

    def __init__(self) -> None:
        self._known: dict[str, DataType | None] = {}

    def type_of(self, definition: Any, namespace: str) -> DataType:
        if isinstance(definition, list):
            return self._union(definition, namespace)
        if isinstance(definition, str):
            return self._by_name(definition, namespace)
        if not isinstance(definition, Mapping) or "type" not in definition:
            raise ValueError(f"'{definition}' is no type")
        kind = definition["type"]
        if isinstance(kind, Mapping | list):
            return self.type_of(kind, namespace)
        match kind:
            case "record" | "error":
                return self._record(definition, namespace)
            case "array":
                return _array(self.type_of(definition.get("items"), namespace))
            case "map":
                return _map(self.type_of(definition.get("values"), namespace))
            case "enum" | "fixed":
                full, _ = _named(definition, namespace)
                self._known[full] = _logical(kind, definition)
                return _logical(kind, definition)
            case _ if kind in _PLAIN:
                return _logical(kind, definition)
        return self._by_name(str(kind), namespace)

    def _by_name(self, type_name: str, namespace: str) -> DataType:
        if type_name in _PLAIN:
            return _spark(_PLAIN[type_name])
        full = type_name if "." in type_name or not namespace else f"{namespace}.{type_name}"
        for name in (full, type_name):
            if name in self._known:
                found = self._known[name]
                if found is None:
                    raise ValueError(f"the record '{type_name}' contains itself")
                return found
        raise ValueError(f"'{type_name}' is no type")

    def _record(self, definition: Mapping[str, Any], namespace: str) -> DataType:
        from pyspark.sql.types import StructField, StructType

        full, inner = _named(definition, namespace)
        self._known[full] = None
        fields = [
            StructField(str(field["name"]), self.type_of(field.get("type"), inner))
            for field in definition.get("fields", ())
        ]
        self._known[full] = found = StructType(fields)
        return found

    def _union(self, members: list[Any], namespace: str) -> DataType:
        from pyspark.sql.types import StructField, StructType

        types = [self.type_of(member, namespace) for member in members if member != "null"]
        type_names = {type_.simpleString() for type_ in types}
        if len(types) == 1:
            return types[0]
        if type_names == {"int", "bigint"}:
            return _spark("bigint")
        if type_names == {"float", "double"}:
            return _spark("double")
        if not types:
            return _spark("void")
        return StructType([StructField(f"member{n}", type_) for n, type_ in enumerate(types)])


def _named(definition: Mapping[str, Any], namespace: str) -> tuple[str, str]:
    """The full name of a type, and the namespace of its inner types."""
    if not definition.get("name"):
        raise ValueError(f"a type '{definition['type']}' has no name")
    name = str(definition["name"])
    inner = name.rpartition(".")[0] if "." in name else str(definition.get("namespace", namespace))
    return (name if "." in name or not inner else f"{inner}.{name}"), inner


def _logical(kind: str, definition: Mapping[str, Any]) -> DataType:
    from pyspark.sql.types import DecimalType

    logical = definition.get("logicalType")
    if logical == "decimal" and kind in ("bytes", "fixed"):
        digits = int(definition.get("precision", 0))
        if 0 < digits <= _MOST_DIGITS:
            return DecimalType(digits, int(definition.get("scale", 0)))
    return _spark(_LOGICAL.get((kind, str(logical)), _PLAIN[kind]))


def _spark(type_name: str) -> DataType:
    from goldsmith.engine.read.spark_types import plain

    return plain(type_name)


def _array(inner: DataType) -> DataType:
    from pyspark.sql.types import ArrayType

    return ArrayType(inner)


def _map(inner: DataType) -> DataType:
    from pyspark.sql.types import MapType, StringType

    return MapType(StringType(), inner)
