"""Convert JSON Schema to a Spark schema: objects become structs, untyped parts STRING."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goldsmith.engine.read.spark_types import plain

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_PLAIN = {"string": "string", "integer": "bigint", "number": "double", "boolean": "boolean"}
_FORMATS = {"date": "date", "date-time": "timestamp"}
_ENCODED = "contentEncoding"


def struct_of(definition: Any) -> StructType:
    """The columns of an object; raises ValueError for a definition that cannot be used."""
    from pyspark.sql.types import ArrayType, StructType

    found = _Document(definition).type_of(definition, ())
    if isinstance(found, ArrayType):
        # The schema describes a document with many records.
        found = found.elementType
    if not isinstance(found, StructType):
        raise ValueError("it describes no object with properties")
    return found


class _Document:
    """A schema document, which resolves its references."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def type_of(self, definition: Any, trail: tuple[str, ...]) -> DataType:
        if definition is True or definition == {}:
            return plain("string")
        if not isinstance(definition, Mapping):
            raise ValueError(f"'{definition}' is no schema")
        if "$ref" in definition:
            return self._referred(str(definition["$ref"]), trail)
        if "allOf" in definition:
            return self._all_of(definition, trail)
        for either in ("anyOf", "oneOf"):
            if either in definition:
                return self._either(definition[either], trail)
        return self._by_type(definition, trail)

    def _by_type(self, definition: Mapping[str, Any], trail: tuple[str, ...]) -> DataType:
        from pyspark.sql.types import ArrayType

        match _type_name(definition):
            case "object":
                return self._object(definition, trail)
            case "array":
                return ArrayType(self.type_of(definition.get("items", {}), trail))
            case "string":
                if definition.get(_ENCODED) == "base64":
                    return plain("binary")
                return plain(_FORMATS.get(str(definition.get("format")), "string"))
            case str() as type_name if type_name in _PLAIN:
                return plain(_PLAIN[type_name])
            case None:
                return plain("string")
            case type_name:
                raise ValueError(f"'{type_name}' is no type of JSON Schema")

    def _object(self, definition: Mapping[str, Any], trail: tuple[str, ...]) -> DataType:
        from pyspark.sql.types import MapType, StringType, StructField, StructType

        properties = definition.get("properties")
        if properties:
            return StructType(
                [
                    StructField(name, self.type_of(inner, trail))
                    for name, inner in properties.items()
                ]
            )
        others = definition.get("additionalProperties")
        if isinstance(others, Mapping):
            return MapType(StringType(), self.type_of(others, trail))
        return plain("string")  # an object with any fields is read as its text

    def _referred(self, reference: str, trail: tuple[str, ...]) -> DataType:
        if reference in trail:
            raise ValueError(f"'{reference}' contains itself")
        if not reference.startswith("#"):
            raise ValueError(f"'{reference}' is in another document")
        found = self._root
        for part in reference.removeprefix("#").strip("/").split("/"):
            part = part.replace("~1", "/").replace("~0", "~")
            if part and not (isinstance(found, Mapping) and part in found):
                raise ValueError(f"'{reference}' leads nowhere")
            found = found[part] if part else found
        return self.type_of(found, (*trail, reference))

    def _all_of(self, definition: Mapping[str, Any], trail: tuple[str, ...]) -> DataType:
        from pyspark.sql.types import StructType

        rest = {key: value for key, value in definition.items() if key != "allOf"}
        own = [rest] if "properties" in rest else []
        types = [self.type_of(part, trail) for part in (*definition["allOf"], *own)]
        structs = [type_ for type_ in types if isinstance(type_, StructType)]
        if not structs:
            return types[0] if types else plain("string")
        fields = {field.name: field for struct in structs for field in struct.fields}
        return StructType(list(fields.values()))

    def _either(self, members: Sequence[Any], trail: tuple[str, ...]) -> DataType:
        types = {
            type_.simpleString(): type_
            for member in members
            if _type_name(member) != "null"
            for type_ in [self.type_of(member, trail)]
        }
        if set(types) == {"bigint", "double"}:
            return types["double"]
        return next(iter(types.values())) if len(types) == 1 else plain("string")


def _type_name(definition: Any) -> str | None:
    """The type of a schema, besides null; None if it has several or none."""
    if not isinstance(definition, Mapping):
        return None
    type_name = definition.get("type")
    if isinstance(type_name, list):
        type_names = [listed for listed in type_name if listed != "null"]
        if sorted(type_names) == ["integer", "number"]:
            return "number"
        return type_names[0] if len(type_names) == 1 else ("null" if not type_names else None)
    if type_name is None and "properties" in definition:
        return "object"
    if type_name is None and ("enum" in definition or "const" in definition):
        return _type_of_values(definition.get("enum", [definition.get("const")]))
    return None if type_name is None else str(type_name)


def _type_of_values(values: Sequence[Any]) -> str | None:
    kinds = {type(value) for value in values if value is not None}
    type_names = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return type_names.get(kinds.pop()) if len(kinds) == 1 else None
