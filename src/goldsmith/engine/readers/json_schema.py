"""JSON Schema as Spark's: objects are structures, what it leaves open is text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goldsmith.engine.readers.spark_types import plain

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_PLAIN = {"string": "string", "integer": "bigint", "number": "double", "boolean": "boolean"}
_FORMATS = {"date": "date", "date-time": "timestamp"}
_ENCODED = "contentEncoding"


def struct_of(definition: Any) -> StructType:
    """The columns of an object; ValueError says what is wrong with it."""
    from pyspark.sql.types import ArrayType, StructType

    found = _Document(definition).type_of(definition, ())
    if isinstance(found, ArrayType):
        # The schema of a document of many records.
        found = found.elementType
    if not isinstance(found, StructType):
        raise ValueError("it describes no object with properties")
    return found


class _Document:
    """A schema and what its references lead to."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def type_of(self, said: Any, trail: tuple[str, ...]) -> DataType:
        if said is True or said == {}:
            return plain("string")
        if not isinstance(said, Mapping):
            raise ValueError(f"'{said}' is no schema")
        if "$ref" in said:
            return self._referred(str(said["$ref"]), trail)
        if "allOf" in said:
            return self._all_of(said, trail)
        for either in ("anyOf", "oneOf"):
            if either in said:
                return self._either(said[either], trail)
        return self._by_word(said, trail)

    def _by_word(self, said: Mapping[str, Any], trail: tuple[str, ...]) -> DataType:
        from pyspark.sql.types import ArrayType

        match _word(said):
            case "object":
                return self._object(said, trail)
            case "array":
                return ArrayType(self.type_of(said.get("items", {}), trail))
            case "string":
                if said.get(_ENCODED) == "base64":
                    return plain("binary")
                return plain(_FORMATS.get(str(said.get("format")), "string"))
            case str() as word if word in _PLAIN:
                return plain(_PLAIN[word])
            case None:
                return plain("string")
            case word:
                raise ValueError(f"'{word}' is no type of JSON Schema")

    def _object(self, said: Mapping[str, Any], trail: tuple[str, ...]) -> DataType:
        from pyspark.sql.types import MapType, StringType, StructField, StructType

        properties = said.get("properties")
        if properties:
            return StructType(
                [
                    StructField(name, self.type_of(inner, trail))
                    for name, inner in properties.items()
                ]
            )
        others = said.get("additionalProperties")
        if isinstance(others, Mapping):
            return MapType(StringType(), self.type_of(others, trail))
        return plain("string")  # any object at all: kept as its text

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

    def _all_of(self, said: Mapping[str, Any], trail: tuple[str, ...]) -> DataType:
        from pyspark.sql.types import StructType

        rest = {key: value for key, value in said.items() if key != "allOf"}
        own = [rest] if "properties" in rest else []
        types = [self.type_of(part, trail) for part in (*said["allOf"], *own)]
        structs = [type_ for type_ in types if isinstance(type_, StructType)]
        if not structs:
            return types[0] if types else plain("string")
        fields = {field.name: field for struct in structs for field in struct.fields}
        return StructType(list(fields.values()))

    def _either(self, members: Sequence[Any], trail: tuple[str, ...]) -> DataType:
        types = {
            type_.simpleString(): type_
            for member in members
            if _word(member) != "null"
            for type_ in [self.type_of(member, trail)]
        }
        if set(types) == {"bigint", "double"}:
            return types["double"]
        return next(iter(types.values())) if len(types) == 1 else plain("string")


def _word(said: Any) -> str | None:
    """The one type of a schema; None where there are several or none said."""
    if not isinstance(said, Mapping):
        return None
    word = said.get("type")
    if isinstance(word, list):
        words = [one for one in word if one != "null"]
        if sorted(words) == ["integer", "number"]:
            return "number"
        return words[0] if len(words) == 1 else ("null" if not words else None)
    if word is None and "properties" in said:
        return "object"
    if word is None and ("enum" in said or "const" in said):
        return _word_of_values(said.get("enum", [said.get("const")]))
    return None if word is None else str(word)


def _word_of_values(values: Sequence[Any]) -> str | None:
    kinds = {type(value) for value in values if value is not None}
    words = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return words.get(kinds.pop()) if len(kinds) == 1 else None
