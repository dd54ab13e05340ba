"""The JSON Schema of catalog files, so that editors complete and check them."""

from __future__ import annotations

from typing import Any

from goldsmith.catalog.bundle import LONGEST_KEY
from goldsmith.catalog.columns import Column, Kind
from goldsmith.catalog.rows import Row
from goldsmith.catalog.schema import DECLARED

_TYPES: dict[Kind, dict[str, Any]] = {
    Kind.TEXT: {"type": "string"},
    Kind.FLAG: {"type": "boolean"},
    Kind.WHOLE: {"type": "integer"},
    Kind.NUMBER: {"type": "number"},
    Kind.MOMENT: {"type": "string"},
    Kind.LIST: {"type": "array", "items": {"type": "object"}},
    Kind.MAP: {"type": "object"},
    Kind.NAMES: {"type": ["array", "string"], "items": {"type": "string"}},
    Kind.POLICY: {"type": ["string", "object"]},
}


def json_schema() -> dict[str, Any]:
    """What a catalog file may hold."""
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


def _column(column: Column) -> dict[str, Any]:
    said: dict[str, Any] = {"description": column.doc, **_TYPES[column.kind]}
    if column.words:
        said["enum"] = list(column.words)
    if column.least is not None:
        said["minimum"] = column.least
    if column.most is not None:
        said["maximum"] = column.most
    if column.is_key and column.kind is Kind.TEXT:
        said |= {"minLength": 1, "maxLength": LONGEST_KEY}
    if column.default is not None:
        said["default"] = column.default
    if not column.is_key:
        # An empty value means the default, as everywhere in YAML.
        types = said["type"] if isinstance(said["type"], list) else [said["type"]]
        said["type"] = [*types, "null"]
        if column.words:
            said["enum"] = [*column.words, None]
    return said
