"""The JSON Schema of catalog files, so that editors complete and check them."""

from __future__ import annotations

from typing import Any

from goldsmith.catalog.bundle import LONGEST_KEY
from goldsmith.catalog.columns import ColumnKind, DeclaredColumn
from goldsmith.catalog.rows import Row
from goldsmith.catalog.schema import DECLARED

_TYPES: dict[ColumnKind, dict[str, Any]] = {
    ColumnKind.TEXT: {"type": "string"},
    ColumnKind.FLAG: {"type": "boolean"},
    ColumnKind.WHOLE: {"type": "integer"},
    ColumnKind.NUMBER: {"type": "number"},
    ColumnKind.MOMENT: {"type": "string"},
    ColumnKind.LIST: {"type": "array", "items": {"type": "object"}},
    ColumnKind.MAP: {"type": "object"},
    ColumnKind.NAMES: {"type": ["array", "string"], "items": {"type": "string"}},
    ColumnKind.POLICY: {"type": ["string", "object"]},
}


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a catalog file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Goldsmith catalog",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            kind.table.name: {
                "description": kind.table.purpose,
                "type": ["array", "null"],
                "items": _row(kind),
            }
            for kind in DECLARED
        },
    }


def _row(kind: type[Row]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(kind.table.key),
        "properties": {column.name: _column(column) for column in kind.table.in_files},
    }


def _column(column: DeclaredColumn) -> dict[str, Any]:
    schema: dict[str, Any] = {"description": column.doc, **_TYPES[column.kind]}
    if column.choices:
        schema["enum"] = list(column.choices)
    if column.least is not None:
        schema["minimum"] = column.least
    if column.most is not None:
        schema["maximum"] = column.most
    if column.is_key and column.kind is ColumnKind.TEXT:
        schema |= {"minLength": 1, "maxLength": LONGEST_KEY}
    if column.default is not None:
        schema["default"] = column.default
    if not column.is_key:
        # An empty value means the default, as everywhere in YAML.
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        schema["type"] = [*types, "null"]
        if column.choices:
            schema["enum"] = [*column.choices, None]
    return schema
