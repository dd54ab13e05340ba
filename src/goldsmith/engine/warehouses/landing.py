"""A load in the words of one warehouse: its tables and columns as they are spelt there."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goldsmith.engine.names import name
from goldsmith.engine.warehouses.types import (
    NamesCollide,
    is_nested,
    is_variant,
    spelt,
    warehouse_type,
)
from goldsmith.engine.warehouses.warehouse import Load
from goldsmith.errors import GoldsmithError
from goldsmith.settings.sections import WarehouseKind

#: What says when a version was valid.
FROM, TO, CURRENT = "_valid_from", "_valid_to", "_is_current"
#: The schema of the ledger and of staging tables.
OWN_SCHEMA = "goldsmith"

_DEFAULT_SCHEMA = {WarehouseKind.DUCKDB: "main"}
_NOT_PLAIN = re.compile(r"[^a-z0-9]+")


@dataclass(eq=False, kw_only=True)
class BadLocation(GoldsmithError):
    """A target's location is no table of a warehouse."""

    location: str

    def __str__(self) -> str:
        return f"'{self.location}' is no table of a warehouse."

    @property
    def hint(self) -> str:
        return "Write schema.table, or a table of the warehouse's default schema."


@dataclass(eq=False, kw_only=True)
class KeyMissing(GoldsmithError):
    """A load needs a column that its rows do not have."""

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
class Table:
    """A table of a warehouse; one without a schema is of the session only."""

    kind: WarehouseKind
    schema: str | None
    table: str

    @classmethod
    def at(cls, location: str, kind: WarehouseKind) -> Table:
        """The table a target's location names."""
        parts = location.split(".")
        if len(parts) > 2 or not all(part.strip() for part in parts):
            raise BadLocation(location=location)
        kept = [spelt(part, kind) for part in parts]
        schema = kept[0] if len(kept) == 2 else _DEFAULT_SCHEMA.get(kind, "public")
        return cls(kind=kind, schema=schema, table=kept[-1])

    @classmethod
    def staging(cls, stage_run_id: str, kind: WarehouseKind) -> Table:
        """The table a load's rows lie in until they are published."""
        # Two ids may look alike once everything odd is taken out of them.
        digest = hashlib.blake2b(stage_run_id.encode(), digest_size=4).hexdigest()
        plain = _NOT_PLAIN.sub("_", stage_run_id.lower())[:40]
        schema = None if kind is WarehouseKind.DUCKDB else OWN_SCHEMA
        return cls(kind=kind, schema=schema, table=f"load_{plain}_{digest}")

    @property
    def sql(self) -> str:
        parts = (self.table,) if self.schema is None else (self.schema, self.table)
        return name(*parts, dialect=self.kind)

    def column(self, column: str) -> str:
        # Redshift knows no alias of a table that is deleted from, so the name stands for it.
        return name(self.table, column, dialect=self.kind)


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column of a load as the warehouse has it."""

    name: str
    #: Its type in the table, and while it is staged; None where it is not staged.
    type: str
    staged_type: str | None
    #: Its value, of a row of the staging table.
    value: str
    is_nested: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Landing:
    """Where a load lands and as what."""

    kind: WarehouseKind
    mode: str
    target: Table
    staging: Table
    columns: tuple[Column, ...]
    keys: tuple[str, ...]
    watermark: str | None
    options: Mapping[str, Any]
    #: As the stage spells a column → as the warehouse does.
    names: Mapping[str, str]

    @classmethod
    def of(cls, load: Load, kind: WarehouseKind, there: Mapping[str, str] | None) -> Landing:
        """A load as it lands in a table that has these columns, or that is not there yet."""
        names = _names([column.name for column in load.columns], there or {}, kind)
        staging = Table.staging(load.stage_run_id, kind)
        columns = [
            _column(names[column.name], column.name, column.type, staging)
            for column in load.columns
        ]
        for needed in (*load.keys, *([load.watermark] if load.watermark else [])):
            if needed not in names:
                raise KeyMissing(location=load.location, mode=load.mode, column=repr(needed))
        if load.mode in ("merge", "scd2") and not load.keys:
            raise KeyMissing(location=load.location, mode=load.mode, column="a key")
        if load.mode == "scd2":
            columns += _validity(load, names, staging)
        return cls(
            kind=kind,
            mode=load.mode,
            target=Table.at(load.location, kind),
            staging=staging,
            columns=tuple(columns),
            keys=tuple(names[key] for key in load.keys),
            watermark=names[load.watermark] if load.watermark else None,
            options=load.options,
            names=names,
        )

    @property
    def staged(self) -> tuple[Column, ...]:
        """The columns that the staged files have, in their order."""
        return tuple(column for column in self.columns if column.staged_type is not None)


def _names(given: Sequence[str], there: Mapping[str, str], kind: WarehouseKind) -> dict[str, str]:
    """Each column as the table spells it already, else as the warehouse would."""
    known = {column.lower(): column for column in there}
    names = {n: n if n in there else known.get(n.lower(), spelt(n, kind)) for n in given}
    taken: dict[str, str] = {}
    for one, kept in names.items():
        same = kept if kind is WarehouseKind.POSTGRES else kept.lower()
        if same in taken:
            raise NamesCollide(names=(taken[same], one), warehouse=str(kind))
        taken[same] = one
    return names


def _column(kept: str, given: str, type_: str, staging: Table) -> Column:
    kind, value = staging.kind, staging.column(kept)
    found = warehouse_type(given, type_, kind)
    staged = found
    if is_variant(type_) and kind is WarehouseKind.REDSHIFT:
        # A JSON text in Parquet would become one long string in a SUPER.
        staged, value = warehouse_type(given, "string", kind), f"JSON_PARSE({value})"
    return Column(
        name=kept, type=found, staged_type=staged, value=value, is_nested=is_nested(type_)
    )


def _validity(load: Load, names: Mapping[str, str], staging: Table) -> list[Column]:
    """The columns of scd2 that the staged rows do not have yet."""
    kind = staging.kind
    moment = warehouse_type(FROM, "timestamp", kind)
    missing: list[Column] = []
    if FROM not in names:
        if load.watermark is None:
            raise KeyMissing(location=load.location, mode=load.mode, column="a watermark")
        begins = f"CAST({staging.column(names[load.watermark])} AS {moment})"
        missing.append(Column(name=FROM, type=moment, staged_type=None, value=begins))
    if TO not in names:
        missing.append(
            Column(name=TO, type=moment, staged_type=None, value=f"CAST(NULL AS {moment})")
        )
    if CURRENT not in names:
        boolean = warehouse_type(CURRENT, "boolean", kind)
        missing.append(Column(name=CURRENT, type=boolean, staged_type=None, value="TRUE"))
    return missing
