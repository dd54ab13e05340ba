"""Avro schemas as Spark's, by the same rules as Spark's own Avro reader."""

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
#: Logical types that change the type; the others say how a value is meant.
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
    """The columns of a record; ValueError says what is wrong with it."""
    from pyspark.sql.types import StructType

    found = _Names().type_of(definition, "")
    if not isinstance(found, StructType):
        raise ValueError("its outermost type is no record")
    return found


class _Names:
    """Types that were given a name, which may be used again further on."""

    def __init__(self) -> None:
        self._known: dict[str, DataType | None] = {}

    def type_of(self, said: Any, namespace: str) -> DataType:
        if isinstance(said, list):
            return self._union(said, namespace)
        if isinstance(said, str):
            return self._word(said, namespace)
        if not isinstance(said, Mapping) or "type" not in said:
            raise ValueError(f"'{said}' is no type")
        kind = said["type"]
        if isinstance(kind, Mapping | list):
            return self.type_of(kind, namespace)
        match kind:
            case "record" | "error":
                return self._record(said, namespace)
            case "array":
                return _array(self.type_of(said.get("items"), namespace))
            case "map":
                return _map(self.type_of(said.get("values"), namespace))
            case "enum" | "fixed":
                full, _ = _named(said, namespace)
                self._known[full] = _logical(kind, said)
                return _logical(kind, said)
            case _ if kind in _PLAIN:
                return _logical(kind, said)
        return self._word(str(kind), namespace)

    def _word(self, word: str, namespace: str) -> DataType:
        if word in _PLAIN:
            return _spark(_PLAIN[word])
        full = word if "." in word or not namespace else f"{namespace}.{word}"
        for name in (full, word):
            if name in self._known:
                found = self._known[name]
                if found is None:
                    raise ValueError(f"the record '{word}' contains itself")
                return found
        raise ValueError(f"'{word}' is no type")

    def _record(self, said: Mapping[str, Any], namespace: str) -> DataType:
        from pyspark.sql.types import StructField, StructType

        full, inner = _named(said, namespace)
        self._known[full] = None
        fields = [
            StructField(str(field["name"]), self.type_of(field.get("type"), inner))
            for field in said.get("fields", ())
        ]
        self._known[full] = found = StructType(fields)
        return found

    def _union(self, members: list[Any], namespace: str) -> DataType:
        from pyspark.sql.types import StructField, StructType

        types = [self.type_of(member, namespace) for member in members if member != "null"]
        words = {type_.simpleString() for type_ in types}
        if len(types) == 1:
            return types[0]
        if words == {"int", "bigint"}:
            return _spark("bigint")
        if words == {"float", "double"}:
            return _spark("double")
        if not types:
            return _spark("void")
        return StructType([StructField(f"member{n}", type_) for n, type_ in enumerate(types)])


def _named(said: Mapping[str, Any], namespace: str) -> tuple[str, str]:
    """The full name of a type, and the namespace of what is inside it."""
    if not said.get("name"):
        raise ValueError(f"a type '{said['type']}' has no name")
    name = str(said["name"])
    inner = name.rpartition(".")[0] if "." in name else str(said.get("namespace", namespace))
    return (name if "." in name or not inner else f"{inner}.{name}"), inner


def _logical(kind: str, said: Mapping[str, Any]) -> DataType:
    from pyspark.sql.types import DecimalType

    logical = said.get("logicalType")
    if logical == "decimal" and kind in ("bytes", "fixed"):
        digits = int(said.get("precision", 0))
        if 0 < digits <= _MOST_DIGITS:
            return DecimalType(digits, int(said.get("scale", 0)))
    return _spark(_LOGICAL.get((kind, str(logical)), _PLAIN[kind]))


def _spark(word: str) -> DataType:
    from goldsmith.engine.readers.spark_types import plain

    return plain(word)


def _array(inner: DataType) -> DataType:
    from pyspark.sql.types import ArrayType

    return ArrayType(inner)


def _map(inner: DataType) -> DataType:
    from pyspark.sql.types import MapType, StringType

    return MapType(StringType(), inner)
