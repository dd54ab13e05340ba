"""The SQL that loads of every write mode share; dialects say where warehouses differ.

Redshift has no ON CONFLICT, FOR UPDATE and RETURNING, and its TRUNCATE commits; none is used.
Keys are compared by plain `=`, with one statement for each combination of NULL keys among the
staged rows: `a = b OR both NULL` would make every join compare every pair of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goldsmith.engine.names import name, names
from goldsmith.engine.warehouses.dialect import WarehouseDialect
from goldsmith.engine.warehouses.landing import (
    OWN_SCHEMA,
    Landing,
    WarehouseColumn,
    WarehouseTable,
)

#: For each key: whether it is NULL.
KeyPattern = tuple[bool, ...]


def ledger(dialect: WarehouseDialect) -> WarehouseTable:
    """The ledger table: one row per published or abandoned load."""
    return WarehouseTable(dialect=dialect, schema=OWN_SCHEMA, table="loads")


def create_ledger(dialect: WarehouseDialect) -> str:
    text, moment = dialect.ledger_text, dialect.ledger_moment
    # `rows` is NULL for an abandoned load, which must never be published.
    return (
        f"CREATE TABLE IF NOT EXISTS {ledger(dialect).sql} (stage_run_id {text} NOT NULL, "
        f"location {text} NOT NULL, token bigint, rows bigint, loaded_at {moment} NOT NULL)"
    )


def ledger_row(dialect: WarehouseDialect) -> str:
    """Takes the stage run's id; returns rows and location."""
    return f"SELECT rows, location FROM {ledger(dialect).sql} WHERE stage_run_id = {dialect.mark}"


def highest_token(dialect: WarehouseDialect) -> str:
    return f"SELECT max(token) FROM {ledger(dialect).sql} WHERE location = {dialect.mark}"


def write_ledger(dialect: WarehouseDialect) -> str:
    """Takes the stage run's id, the location, the token and the rows."""
    m = dialect.mark
    columns = "stage_run_id, location, token, rows, loaded_at"
    return (
        f"INSERT INTO {ledger(dialect).sql} ({columns}) VALUES ({m}, {m}, {m}, {m}, {dialect.now})"
    )


def give_up(dialect: WarehouseDialect) -> str:
    """Takes the stage run's id and the location."""
    m = dialect.mark
    columns = "stage_run_id, location, loaded_at"
    return f"INSERT INTO {ledger(dialect).sql} ({columns}) VALUES ({m}, {m}, {dialect.now})"


def ledger_locations(dialect: WarehouseDialect) -> str:
    return f"SELECT DISTINCT location FROM {ledger(dialect).sql}"


def move_ledger(dialect: WarehouseDialect) -> str:
    """Takes the new location and the old one."""
    m = dialect.mark
    return f"UPDATE {ledger(dialect).sql} SET location = {m} WHERE location = {m}"


def move_table(old: WarehouseTable, new: WarehouseTable) -> Iterator[str]:
    """Rename a table; its rows and columns stay."""
    if old.schema == new.schema:
        yield f"ALTER TABLE {old.sql} RENAME TO {name(new.table, dialect=old.dialect.name)}"
    else:
        yield from old.dialect.move_to_schema(old, new)


def schema_there(dialect: WarehouseDialect) -> str:
    # CREATE SCHEMA IF NOT EXISTS needs the CREATE privilege even if the schema exists.
    return f"SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = {dialect.mark}"


def create_schema(table: WarehouseTable) -> str:
    return f"CREATE SCHEMA IF NOT EXISTS {name(str(table.schema), dialect=table.dialect.name)}"


def create_target(landing: Landing) -> str:
    columns = ", ".join(
        f"{quoted(landing, c.name)} {c.type}{landing.dialect.encoding(landing, c)}"
        for c in landing.columns
    )
    layout = landing.dialect.layout(landing, sorted_too=True)
    return f"CREATE TABLE {landing.target.sql} ({columns}){layout}"


def add_column(landing: Landing, column: WarehouseColumn) -> str:
    return (
        f"ALTER TABLE {landing.target.sql} ADD COLUMN {quoted(landing, column.name)} {column.type}"
    )


def create_staging(landing: Landing) -> str:
    columns = ", ".join(f"{quoted(landing, c.name)} {c.staged_type}" for c in landing.staged)
    layout = landing.dialect.layout(landing, sorted_too=False)
    return f"{landing.dialect.creates_staging} {landing.staging.sql} ({columns}){layout}"


def drop(table: WarehouseTable) -> str:
    return f"DROP TABLE IF EXISTS {table.sql}"


def count(table: WarehouseTable) -> str:
    return f"SELECT count(*) FROM {table.sql}"


def key_patterns(landing: Landing) -> str:
    """The combinations of NULL keys among the staged rows."""
    nulls = ", ".join(
        f"CASE WHEN {quoted(landing, key)} IS NULL THEN 1 ELSE 0 END" for key in landing.keys
    )
    return f"SELECT DISTINCT {nulls} FROM {landing.staging.sql}"


def empty(landing: Landing) -> str:
    return f"DELETE FROM {landing.target.sql}"


def append(landing: Landing) -> Iterator[str]:
    """Insert the staged rows."""
    yield _insert(landing, landing.staging, [column.value for column in landing.columns])


def delete_between(landing: Landing, column: str) -> str:
    """Takes two times as text; deletes rows with start <= column < end."""
    moment = f"CAST({landing.dialect.mark} AS TIMESTAMP)"
    found = quoted(landing, landing.names.get(column, column))
    return f"DELETE FROM {landing.target.sql} WHERE {found} >= {moment} AND {found} < {moment}"


def delete_among(landing: Landing, column: str, number: int) -> str:
    """Takes `number` values; deletes rows whose column has one of them."""
    marks = ", ".join([landing.dialect.mark] * number)
    found = quoted(landing, landing.names.get(column, column))
    return f"DELETE FROM {landing.target.sql} WHERE {found} IN ({marks})"


def rows_without(landing: Landing, column: str) -> str:
    """Counts rows of the target whose column is NULL."""
    found = quoted(landing, landing.names.get(column, column))
    return f"SELECT count(*) FROM {landing.target.sql} WHERE {found} IS NULL"


def keys_that_came(landing: Landing, pattern: KeyPattern) -> str:
    """The keys of the staged rows, as a subquery."""
    keys = names(landing.keys, dialect=landing.dialect.name)
    nulls = " AND ".join(
        f"{quoted(landing, key)} IS {'' if is_null else 'NOT '}NULL"
        for key, is_null in zip(landing.keys, pattern, strict=True)
    )
    alias = name(landing.staging.table, dialect=landing.dialect.name)
    return f"(SELECT DISTINCT {keys} FROM {landing.staging.sql} WHERE {nulls}) AS {alias}"


def delete_matching(landing: Landing, patterns: Sequence[KeyPattern]) -> Iterator[str]:
    """Delete the rows of the target that have the keys of staged rows."""
    for pattern in patterns:
        yield (
            f"DELETE FROM {landing.target.sql} USING {landing.staging.sql} "
            f"WHERE {same_keys(landing, pattern)}"
        )


def same_keys(landing: Landing, pattern: KeyPattern) -> str:
    """The condition that a staged row and a row of the target have the same keys."""
    conditions = []
    for key, is_null in zip(landing.keys, pattern, strict=True):
        ours, theirs = landing.staging.column(key), landing.target.column(key)
        conditions.append(
            f"{ours} IS NULL AND {theirs} IS NULL" if is_null else f"{ours} = {theirs}"
        )
    return " AND ".join(conditions)


def _insert(landing: Landing, source: WarehouseTable, values: Sequence[str]) -> str:
    columns = names([c.name for c in landing.columns], dialect=landing.dialect.name)
    selection = ", ".join(values)
    return f"INSERT INTO {landing.target.sql} ({columns}) SELECT {selection} FROM {source.sql}"


def quoted(landing: Landing, column: str) -> str:
    return name(column, dialect=landing.dialect.name)
