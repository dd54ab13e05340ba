"""Refuse staged values that the type of an existing column would round, cut or shift.

Warehouses convert them without a word: 1.7 in a BIGINT column becomes 2, a time in a DATE column
loses its hour.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from goldsmith.engine.warehouses.landing import Landing, WarehouseColumn
from goldsmith.engine.warehouses.warehouse import LoadRefused

#: A type as the catalog of a warehouse spells it, and as `CREATE TABLE` does.
_SPELLINGS = {
    "float": "real",
    "character varying": "varchar",
    "binary varying": "varbyte",
    "bytea": "varbyte",
    "timestamp with time zone": "timestamptz",
    "timestamp without time zone": "timestamp",
    "time without time zone": "time",
    "decimal": "numeric",
}
_TYPE = re.compile(r"([a-z ]+)(.*)")
_NUMBER = re.compile(r"(tiny|small|big|huge|u.*)?int(eger)?|real|double.*|numeric.*")
_TIME = re.compile(r"date|timestamp.*")


def refuse_changed(
    run: Callable[..., list[tuple[Any, ...]]],
    landing: Landing,
    table_columns: Mapping[str, str],
    location: str,
) -> None:
    """Raise if a staged value would not be the same value in its column of the table."""
    types = {column.lower(): type_ for column, type_ in table_columns.items()}
    changed = {
        column.name: (condition, types[column.name.lower()])
        for column in landing.columns
        if (condition := _changes(column, types.get(column.name.lower()))) is not None
    }
    if not changed:
        return
    counts = ", ".join(f"sum(CASE WHEN {c} THEN 1 ELSE 0 END)" for c, _type in changed.values())
    found = run(f"SELECT {counts} FROM {landing.staging.sql}")[0]
    for (column, (_condition, type_)), rows in zip(changed.items(), found, strict=True):
        if rows:
            number = f"{int(rows):,} row" + ("s have a value" if rows > 1 else " has a value")
            cause = f"{number} in '{column}' that a column of the type {type_} would change."
            raise LoadRefused(location=location, cause=cause)


def _changes(column: WarehouseColumn, table_type: str | None) -> str | None:
    """SQL for whether a value changes in a column of another type; None if it cannot."""
    if table_type is None or column.staged_type is None or column.is_nested:
        return None
    given, wanted = _plain(column.type), _plain(table_type)
    if given == wanted:
        return None
    there = f"CAST({column.value} AS {table_type})"
    if not given.startswith(("varchar", "text")):
        return f"{column.value} <> CAST({there} AS {column.type})"
    # A text is not compared as text: 12.50 is the number 12.5.
    for family, type_ in ((_NUMBER, "double precision"), (_TIME, "TIMESTAMP WITH TIME ZONE")):
        if family.fullmatch(wanted):
            return f"CAST({column.value} AS {type_}) <> CAST({there} AS {type_})"
    return None


def _plain(type_: str) -> str:
    """One spelling for each type; texts of any length are one type."""
    found = _TYPE.fullmatch(type_.lower())
    if found is None:
        return type_.lower()
    name = _SPELLINGS.get(found[1].strip(), found[1].strip())
    return name if name in ("varchar", "varbyte") else name + found[2].replace(" ", "")
