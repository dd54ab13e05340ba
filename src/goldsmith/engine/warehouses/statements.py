"""The SQL of a load, alike on DuckDB, PostgreSQL and Redshift.

Redshift has no ON CONFLICT, FOR UPDATE and RETURNING, and its TRUNCATE commits; none is used.
Keys are compared by plain `=`, one statement for each set of keys that is NULL among the rows
that came: `a = b OR both NULL` would make every join look at every pair of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goldsmith.engine.names import name, names
from goldsmith.engine.warehouses.landing import (
    CURRENT,
    FROM,
    OWN_SCHEMA,
    TO,
    Column,
    Landing,
    Table,
)
from goldsmith.engine.warehouses.layout import encoding, layout
from goldsmith.settings.sections import WarehouseKind

#: For each key: is it NULL?
KeyPattern = tuple[bool, ...]

#: Columns while versions are computed, named so that no stage has them.
_CAME, _NUMBER, _REPEATS = "_goldsmith_came", "_goldsmith_number", "_goldsmith_repeats"


def ledger(kind: WarehouseKind) -> Table:
    """The table that says which stage runs were loaded."""
    return Table(kind=kind, schema=OWN_SCHEMA, table="loads")


def create_ledger(kind: WarehouseKind) -> str:
    text = "varchar(512)" if kind is WarehouseKind.REDSHIFT else "text"
    moment = "TIMESTAMP" if kind is WarehouseKind.REDSHIFT else "TIMESTAMP WITH TIME ZONE"
    # `rows` is NULL for a load that was given up: it must never be published.
    return (
        f"CREATE TABLE IF NOT EXISTS {ledger(kind).sql} (stage_run_id {text} NOT NULL, "
        f"location {text} NOT NULL, token bigint, rows bigint, loaded_at {moment} NOT NULL)"
    )


def ledger_row(kind: WarehouseKind) -> str:
    mark = _mark(kind)
    return f"SELECT rows FROM {ledger(kind).sql} WHERE stage_run_id = {mark} AND location = {mark}"


def highest_token(kind: WarehouseKind) -> str:
    return f"SELECT max(token) FROM {ledger(kind).sql} WHERE location = {_mark(kind)}"


def write_ledger(kind: WarehouseKind) -> str:
    """Takes the stage run's id, the location, the token and the rows."""
    m = _mark(kind)
    columns = "stage_run_id, location, token, rows, loaded_at"
    return f"INSERT INTO {ledger(kind).sql} ({columns}) VALUES ({m}, {m}, {m}, {m}, {_now(kind)})"


def give_up(kind: WarehouseKind) -> str:
    """Takes the stage run's id and the location."""
    m = _mark(kind)
    columns = "stage_run_id, location, loaded_at"
    return f"INSERT INTO {ledger(kind).sql} ({columns}) VALUES ({m}, {m}, {_now(kind)})"


def schema_there(kind: WarehouseKind) -> str:
    # CREATE SCHEMA IF NOT EXISTS asks for the right to make one even where it is there.
    return f"SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = {_mark(kind)}"


def create_schema(table: Table) -> str:
    return f"CREATE SCHEMA IF NOT EXISTS {name(str(table.schema), dialect=table.kind)}"


def columns_of(kind: WarehouseKind) -> str:
    """Takes schema and table; gives names and types in order."""
    m = _mark(kind)
    if kind is WarehouseKind.DUCKDB:
        # information_schema says the same, but takes 30 ms in a file just opened.
        return (
            "SELECT column_name, data_type FROM duckdb_columns() "
            "WHERE database_name = current_database() "
            f"AND lower(schema_name) = lower({m}) AND lower(table_name) = lower({m}) "
            "ORDER BY column_index"
        )
    return (
        "SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_catalog.pg_attribute a "
        "JOIN pg_catalog.pg_class c ON c.oid = a.attrelid "
        "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        f"WHERE n.nspname = {m} AND c.relname = {m} AND a.attnum > 0 AND NOT a.attisdropped "
        "ORDER BY a.attnum"
    )


def create_target(landing: Landing) -> str:
    columns = ", ".join(
        f"{_quoted(landing, c.name)} {c.type}{encoding(landing, c)}" for c in landing.columns
    )
    return f"CREATE TABLE {landing.target.sql} ({columns}){layout(landing, sorted_too=True)}"


def add_column(landing: Landing, column: Column) -> str:
    return (
        f"ALTER TABLE {landing.target.sql} ADD COLUMN {_quoted(landing, column.name)} {column.type}"
    )


def create_staging(landing: Landing) -> str:
    head = {
        WarehouseKind.DUCKDB: "CREATE TEMP TABLE",
        # What lies aside need not survive a crash of the server.
        WarehouseKind.POSTGRES: "CREATE UNLOGGED TABLE",
        WarehouseKind.REDSHIFT: "CREATE TABLE",
    }[landing.kind]
    columns = ", ".join(f"{_quoted(landing, c.name)} {c.staged_type}" for c in landing.staged)
    return f"{head} {landing.staging.sql} ({columns}){layout(landing, sorted_too=False)}"


def drop(table: Table) -> str:
    return f"DROP TABLE IF EXISTS {table.sql}"


def count(table: Table) -> str:
    return f"SELECT count(*) FROM {table.sql}"


def key_patterns(landing: Landing) -> str:
    """Which keys are NULL together among the staged rows."""
    nulls = ", ".join(
        f"CASE WHEN {_quoted(landing, key)} IS NULL THEN 1 ELSE 0 END" for key in landing.keys
    )
    return f"SELECT DISTINCT {nulls} FROM {landing.staging.sql}"


def empty(landing: Landing) -> str:
    return f"DELETE FROM {landing.target.sql}"


def append(landing: Landing) -> Iterator[str]:
    yield _insert(landing, landing.staging, [column.value for column in landing.columns])


def overwrite(landing: Landing) -> Iterator[str]:
    yield empty(landing)
    yield from append(landing)


def delete_between(landing: Landing, column: str) -> str:
    """Takes two moments as text: rows from the first until before the second go."""
    moment = f"CAST({_mark(landing.kind)} AS TIMESTAMP)"
    quoted = _quoted(landing, landing.names.get(column, column))
    return f"DELETE FROM {landing.target.sql} WHERE {quoted} >= {moment} AND {quoted} < {moment}"


def merge(landing: Landing, patterns: Sequence[KeyPattern]) -> Iterator[str]:
    """Rows older than the target's are forgotten, then the others take their places."""
    target, staging = landing.target, landing.staging
    if landing.watermark is not None:
        ours, theirs = staging.column(landing.watermark), target.column(landing.watermark)
        # A time that is not known is older than any that is.
        older = f"{theirs} IS NOT NULL AND ({ours} IS NULL OR {ours} < {theirs})"
        for pattern in patterns:
            same = _same_keys(landing, pattern)
            yield f"DELETE FROM {staging.sql} USING {target.sql} WHERE {same} AND {older}"
    yield from _delete_matching(landing, patterns)
    yield from append(landing)


def versions(landing: Landing) -> Table:
    """The table, of the session only, that scd2 computes versions in."""
    return Table(kind=landing.kind, schema=None, table=f"{landing.staging.table}_v")


def scd2(landing: Landing, patterns: Sequence[KeyPattern], there: Sequence[str]) -> Iterator[str]:
    """All versions of the keys that came, computed anew; `there` are the table's columns."""
    made = versions(landing)
    yield f"CREATE TEMP TABLE {made.sql} AS {_versions(landing, patterns, there)}"
    yield from _delete_matching(landing, patterns)
    columns = names(there, dialect=landing.kind)
    yield f"INSERT INTO {landing.target.sql} ({columns}) SELECT {columns} FROM {made.sql}"


def _versions(landing: Landing, patterns: Sequence[KeyPattern], there: Sequence[str]) -> str:
    quoted = [_quoted(landing, column) for column in there]
    keys = names(landing.keys, dialect=landing.kind)
    begins, ends, current = (_quoted(landing, column) for column in (FROM, TO, CURRENT))
    in_order = f"PARTITION BY {keys} ORDER BY {begins} NULLS FIRST"
    came = {column.name: column.value for column in landing.columns}
    both = [
        f"SELECT {names(there, dialect=landing.kind, of=landing.target.table)}, 0 AS {_CAME} "
        f"FROM {landing.target.sql} JOIN {_keys_that_came(landing, pattern)} "
        f"ON {_same_keys(landing, pattern)}"
        for pattern in patterns
    ]
    # NULL takes its type from the branch before it, so what is there comes first.
    values = ", ".join(came.get(column, "NULL") for column in there)
    both.append(f"SELECT {values}, 1 AS {_CAME} FROM {landing.staging.sql}")
    # What came at the same moment corrects what was there.
    single = (
        f"SELECT *, ROW_NUMBER() OVER "
        f"(PARTITION BY {keys}, {begins} ORDER BY {_CAME} DESC) AS {_NUMBER} "
        f"FROM ({' UNION ALL '.join(both)}) AS b"
    )
    marked = (
        f"SELECT *, CASE WHEN ROW_NUMBER() OVER ({in_order}) > 1{_unchanged(landing, in_order)} "
        f"THEN 1 ELSE 0 END AS {_REPEATS} FROM ({single}) AS s WHERE {_NUMBER} = 1"
    )
    next_begins = (
        f"LEAD({begins}) OVER (PARTITION BY {keys}, {_REPEATS} ORDER BY {begins} NULLS FIRST)"
    )
    # A repeat is kept with an empty validity: a late change may yet fall before it.
    computed = {
        ends: f"CASE WHEN {_REPEATS} = 1 THEN {begins} ELSE {next_begins} END",
        current: f"({_REPEATS} = 0 AND {next_begins} IS NULL)",
    }
    chosen = ", ".join(f"{computed.get(column, column)} AS {column}" for column in quoted)
    # Without a watermark the moment is that of the run, and nothing can arrive late.
    kept = "" if landing.watermark is not None else f" WHERE {_REPEATS} = 0"
    return f"SELECT {chosen} FROM ({marked}) AS m{kept}"


def _unchanged(landing: Landing, in_order: str) -> str:
    """The conditions under which a version says what the one before it said."""
    apart = {FROM, TO, CURRENT, landing.watermark, *landing.keys}
    conditions = ""
    for column in landing.columns:
        # Bookkeeping differs between runs over the same data: it makes no version.
        if column.name in apart or column.name.startswith("_"):
            continue
        now = _quoted(landing, column.name)
        if column.is_nested and landing.kind is WarehouseKind.REDSHIFT:
            now = f"JSON_SERIALIZE_TO_VARBYTE({now})"
        before = f"LAG({now}) OVER ({in_order})"
        conditions += f" AND ({now} = {before} OR ({now} IS NULL AND {before} IS NULL))"
    return conditions


def _keys_that_came(landing: Landing, pattern: KeyPattern) -> str:
    keys = names(landing.keys, dialect=landing.kind)
    nulls = " AND ".join(
        f"{_quoted(landing, key)} IS {'' if is_null else 'NOT '}NULL"
        for key, is_null in zip(landing.keys, pattern, strict=True)
    )
    alias = name(landing.staging.table, dialect=landing.kind)
    return f"(SELECT DISTINCT {keys} FROM {landing.staging.sql} WHERE {nulls}) AS {alias}"


def _delete_matching(landing: Landing, patterns: Sequence[KeyPattern]) -> Iterator[str]:
    for pattern in patterns:
        yield (
            f"DELETE FROM {landing.target.sql} USING {landing.staging.sql} "
            f"WHERE {_same_keys(landing, pattern)}"
        )


def _same_keys(landing: Landing, pattern: KeyPattern) -> str:
    conditions = []
    for key, is_null in zip(landing.keys, pattern, strict=True):
        ours, theirs = landing.staging.column(key), landing.target.column(key)
        conditions.append(
            f"{ours} IS NULL AND {theirs} IS NULL" if is_null else f"{ours} = {theirs}"
        )
    return " AND ".join(conditions)


def _insert(landing: Landing, source: Table, values: Sequence[str]) -> str:
    columns = names([c.name for c in landing.columns], dialect=landing.kind)
    chosen = ", ".join(values)
    return f"INSERT INTO {landing.target.sql} ({columns}) SELECT {chosen} FROM {source.sql}"


def _quoted(landing: Landing, column: str) -> str:
    return name(column, dialect=landing.kind)


def _mark(kind: WarehouseKind) -> str:
    """Where a bound value goes."""
    return "?" if kind is WarehouseKind.DUCKDB else "%s"


def _now(kind: WarehouseKind) -> str:
    # On Redshift CURRENT_TIMESTAMP is of the leader node only.
    return "GETDATE()" if kind is WarehouseKind.REDSHIFT else "CURRENT_TIMESTAMP"
