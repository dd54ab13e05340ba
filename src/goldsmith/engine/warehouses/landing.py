"""A load in the terms of one warehouse: the names and types of its tables and columns."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goldsmith.catalog.write_modes import WRITE_MODES
from goldsmith.engine.names import name
from goldsmith.engine.warehouses.dialect import WarehouseDialect
from goldsmith.engine.warehouses.types import NamesCollide, is_nested
from goldsmith.engine.warehouses.warehouse import Load
from goldsmith.errors import GoldsmithError

#: The schema of the ledger and of staging tables.
OWN_SCHEMA = "goldsmith"

_NOT_PLAIN = re.compile(r"[^a-z0-9]+")


@dataclass(eq=False, kw_only=True)
class BadLocation(GoldsmithError):
    """A target's location is not the name of a warehouse table."""

    location: str

    def __str__(self) -> str:
        return f"'{self.location}' is no table of a warehouse."

    @property
    def hint(self) -> str:
        return "Write schema.table, or a table of the warehouse's default schema."


@dataclass(eq=False, kw_only=True)
class KeyMissing(GoldsmithError):
    """A load needs a key or watermark column that its rows do not have."""

    exit_code = 1

    location: str
    mode: str
    column: str

    def __str__(self) -> str:
        return f"The {self.mode} of {self.location} needs {self.column}, which its rows lack."

    @property
    def hint(self) -> str:
        return "See keys and watermark_column of the stage."


@dataclass(frozen=True, kw_only=True, slots=True)
class WarehouseTable:
    """A table of a warehouse; a temporary one has no schema."""

    dialect: WarehouseDialect
    schema: str | None
    table: str

    @classmethod
    def at(cls, location: str, dialect: WarehouseDialect) -> WarehouseTable:
        """The table a target's location names."""
        parts = location.split(".")
        if len(parts) > 2 or not all(part.strip() for part in parts):
            raise BadLocation(location=location)
        names = [dialect.spelt(part) for part in parts]
        schema = names[0] if len(names) == 2 else dialect.default_schema
        return cls(dialect=dialect, schema=schema, table=names[-1])

    @classmethod
    def staging(cls, stage_run_id: str, dialect: WarehouseDialect) -> WarehouseTable:
        """The staging table of a load."""
        # The digest keeps apart ids that differ only in replaced characters.
        digest = hashlib.blake2b(stage_run_id.encode(), digest_size=4).hexdigest()
        plain = _NOT_PLAIN.sub("_", stage_run_id.lower())[:40]
        schema = None if dialect.has_temporary_staging else OWN_SCHEMA
        return cls(dialect=dialect, schema=schema, table=f"load_{plain}_{digest}")

    @property
    def sql(self) -> str:
        parts = (self.table,) if self.schema is None else (self.schema, self.table)
        return name(*parts, dialect=self.dialect.name)

    def column(self, column: str) -> str:
        # Redshift allows no alias for the table of a DELETE, so the table name qualifies it.
        return name(self.table, column, dialect=self.dialect.name)


@dataclass(frozen=True, kw_only=True, slots=True)
class WarehouseColumn:
    """A column of a load with its name and types in the warehouse."""

    name: str
    #: Its types in the target and in the staging table; None if it is not staged.
    type: str
    staged_type: str | None
    #: SQL for its value, over a row of the staging table.
    value: str
    is_nested: bool = False
    #: A part of it is a map or a VARIANT: there a NULL is not the same as no entry.
    has_map: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Landing:
    """A load with its tables, columns and options as the warehouse names them."""

    dialect: WarehouseDialect
    mode: str
    target: WarehouseTable
    staging: WarehouseTable
    columns: tuple[WarehouseColumn, ...]
    keys: tuple[str, ...]
    watermark: str | None
    options: Mapping[str, Any]
    stage_options: Mapping[str, Any]
    #: The stage's name of a column → the warehouse's name.
    names: Mapping[str, str]

    @classmethod
    def of(
        cls, load: Load, dialect: WarehouseDialect, table_columns: Mapping[str, str] | None
    ) -> Landing:
        """The landing of a load; `table_columns` is None if there is no table yet."""
        names = _names([column.name for column in load.columns], table_columns or {}, dialect)
        staging = WarehouseTable.staging(load.stage_run_id, dialect)
        columns = [
            _column(names[column.name], column.name, column.type, staging)
            for column in load.columns
        ]
        for needed in (*load.keys, *([load.watermark] if load.watermark else [])):
            if needed not in names:
                raise KeyMissing(location=load.location, mode=load.mode, column=repr(needed))
        mode = WRITE_MODES.get(load.mode)
        if mode.needs_keys and not load.keys:
            raise KeyMissing(location=load.location, mode=load.mode, column="a key")
        columns += mode.warehouse_columns(load, names, staging)
        return cls(
            dialect=dialect,
            mode=load.mode,
            target=WarehouseTable.at(load.location, dialect),
            staging=staging,
            columns=tuple(columns),
            keys=tuple(names[key] for key in load.keys),
            watermark=names[load.watermark] if load.watermark else None,
            options=load.options,
            stage_options=load.stage_options,
            names=names,
        )

    @property
    def staged(self) -> tuple[WarehouseColumn, ...]:
        """The columns of the staged files, in their order."""
        return tuple(column for column in self.columns if column.staged_type is not None)


def _names(
    given: Sequence[str], table_columns: Mapping[str, str], dialect: WarehouseDialect
) -> dict[str, str]:
    """The warehouse name of each column: the table's spelling, else the warehouse's."""
    known = {column.lower(): column for column in table_columns}
    names = {n: n if n in table_columns else known.get(n.lower(), dialect.spelt(n)) for n in given}
    taken: dict[str, str] = {}
    for given_name, warehouse_name in names.items():
        same = warehouse_name if dialect.tells_case_apart else warehouse_name.lower()
        if same in taken:
            raise NamesCollide(names=(taken[same], given_name), warehouse=dialect.name)
        taken[same] = given_name
    return names


def _column(
    warehouse_name: str, given: str, type_: str, staging: WarehouseTable
) -> WarehouseColumn:
    found = staging.dialect.type_of(given, type_)
    staged, value = staging.dialect.staged_type(given, type_, staging.column(warehouse_name))
    return WarehouseColumn(
        name=warehouse_name,
        type=found,
        staged_type=staged,
        value=value,
        is_nested=is_nested(type_),
        has_map="map<" in type_ or "variant" in type_,
    )
