"""Normalise locations: one text for one physical location, however a row spells it."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import TYPE_CHECKING

from goldsmith.catalog.datasets import Target
from goldsmith.planning.resolved_stage import is_lake, lake_name

if TYPE_CHECKING:
    from goldsmith.settings.sections import WarehouseSettings

#: The default schemas: DuckDB's, and PostgreSQL's and Redshift's.
_DEFAULT_SCHEMAS = ("main", "public")


def folder(location: str) -> str:
    """A normalised prefix: `s3a://b//x/` and `s3://b/x` are one folder."""
    scheme, colon, rest = location.partition("://")
    if not colon:
        return posixpath.normpath(location) if location else location
    if scheme.lower() in ("s3a", "s3n"):
        scheme = "s3"
    return f"{scheme.lower()}://{posixpath.normpath(rest).strip('/')}"


def warehouse_table(location: str) -> str:
    """A normalised warehouse table name: `T`, `main.t` and `public.t` give the same text."""
    schema, dot, table = location.lower().rpartition(".")
    return table if dot and schema in _DEFAULT_SCHEMAS else location.lower()


def lease_resource(target: Target, warehouses: Mapping[str, WarehouseSettings]) -> str:
    """The resource a lease is held on: the location that is written, not the target's id."""
    location = target.location or target.target_id
    if is_lake(target):
        return folder(location)
    return f"{_one_type(str(target.type), warehouses)}:{warehouse_table(location)}"


def _one_type(type_: str, warehouses: Mapping[str, WarehouseSettings]) -> str:
    """One type for all types that mean the same warehouse in this environment."""
    mine = warehouses.get(type_)
    return type_ if mine is None else min(n for n, s in warehouses.items() if _same(s, mine))


def _same(left: WarehouseSettings, right: WarehouseSettings) -> bool:
    if left.kind is not right.kind:
        return False
    if left.host is None and right.host is None:
        return left.path == right.path
    return (left.host, left.port, left.database) == (right.host, right.port, right.database)


def table_name(target: Target, layer: str) -> str:
    """The name of a target's table: in the lake by layer and id, in a warehouse by location."""
    if is_lake(target):
        return lake_name(target.target_id, layer)
    return f"{target.type}:{target.location or target.target_id}"


def is_other_table(noted: str, found: str | None) -> bool:
    """The table's id differs from the id in the ledger.

    The part before the slash names the warehouse ledger an id belongs to. Ids of two ledgers are
    not compared: a warehouse that was copied or restored from a dump has new ids for all tables.
    """
    if found is None:
        return True
    return noted != found and noted.rpartition("/")[0] == found.rpartition("/")[0]


def is_same_table(left: str, right: str) -> bool:
    """Two results of `table_name` mean the same table."""
    if left.startswith("lake.") or right.startswith("lake."):
        return left == right
    (type_, _, table), (right_type, _, right_table) = left.partition(":"), right.partition(":")
    return type_ == right_type and warehouse_table(table) == warehouse_table(right_table)
