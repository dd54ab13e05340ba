"""Definitions of one schema each, as a registry holds them."""

from __future__ import annotations

from typing import Any

ARN = "arn:aws:glue:us-east-1:123456789012:schema/shop/orders"

AVRO: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "count", "type": ["null", "int", "long"]},
        {
            "name": "paid",
            "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2},
        },
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
        {"name": "key", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["A", "B"]}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 4}},
        {"name": "either", "type": ["int", "string"]},
        {"name": "tags", "type": {"type": "array", "items": ["null", "string"]}},
        {"name": "sums", "type": {"type": "map", "values": "double"}},
        {
            "name": "buyer",
            "type": {"type": "record", "name": "Who", "fields": [{"name": "x", "type": "float"}]},
        },
        {"name": "payer", "type": ["null", "shop.Who"]},
        {"name": "was", "type": "State"},
    ],
}

JSON_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "price": {"type": ["number", "null"]},
        "ok": {"type": "boolean"},
        "name": {"type": "string", "maxLength": 9},
        "day": {"type": "string", "format": "date"},
        "at": {"type": "string", "format": "date-time"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "buyer": {"$ref": "#/$defs/who"},
        "sums": {"type": "object", "additionalProperties": {"type": "number"}},
        "any": {"type": "object"},
        "free": {},
        "either": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/who"}]},
        "mixed": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        "state": {"enum": ["A", "B"]},
        "both": {"allOf": [{"$ref": "#/$defs/who"}, {"properties": {"y": {"type": "integer"}}}]},
    },
    "$defs": {"who": {"type": "object", "properties": {"x": {"type": "number"}}}},
}


JSON_DDL = """
    id BIGINT, price DOUBLE, ok BOOLEAN, name STRING, day DATE, at TIMESTAMP, tags ARRAY<STRING>,
    buyer STRUCT<x: DOUBLE>, sums MAP<STRING, DOUBLE>, any STRING, free STRING,
    either STRUCT<x: DOUBLE>, mixed STRING, state STRING, both STRUCT<x: DOUBLE, y: BIGINT>
"""
