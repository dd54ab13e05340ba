"""The SQL of a load, the same for every warehouse but for what its dialect says.

Redshift has no ON CONFLICT, FOR UPDATE and RETURNING, and its TRUNCATE commits; none is used.
Keys are compared by plain `=`, with one statement for each combination of NULL keys among the
staged rows: `a = b OR both NULL` would make every join compare every pair of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goldsmith.engine.names import literal, name, names
from goldsmith.engine.shape.watermarks import DECIMAL, NUMBER, TIME
from goldsmith.engine.warehouses.dialect import WarehouseDialect
from goldsmith.engine.warehouses.landing import (
    CURRENT,
    FROM,
    OWN_SCHEMA,
    TO,
    Landing,
    WarehouseColumn,
    WarehouseTable,
)
from goldsmith.planning.resolved_stage import BRONZE_COLUMNS

#: For each key: whether it is NULL.
KeyPattern = tuple[bool, ...]

#: Helper columns of scd2, named so that no stage has them.
_CAME, _NUMBER, _REPEATS = "_goldsmith_came", "_goldsmith_number", "_goldsmith_repeats"


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
        f"{_quoted(landing, c.name)} {c.type}{landing.dialect.encoding(landing, c)}"
        for c in landing.columns
    )
    layout = landing.dialect.layout(landing, sorted_too=True)
    return f"CREATE TABLE {landing.target.sql} ({columns}){layout}"


def add_column(landing: Landing, column: WarehouseColumn) -> str:
    return (
        f"ALTER TABLE {landing.target.sql} ADD COLUMN {_quoted(landing, column.name)} {column.type}"
    )


def create_staging(landing: Landing) -> str:
    columns = ", ".join(f"{_quoted(landing, c.name)} {c.staged_type}" for c in landing.staged)
    layout = landing.dialect.layout(landing, sorted_too=False)
    return f"{landing.dialect.creates_staging} {landing.staging.sql} ({columns}){layout}"


def drop(table: WarehouseTable) -> str:
    return f"DROP TABLE IF EXISTS {table.sql}"


def count(table: WarehouseTable) -> str:
    return f"SELECT count(*) FROM {table.sql}"


def key_patterns(landing: Landing) -> str:
    """The combinations of NULL keys among the staged rows."""
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
    """Takes two times as text; deletes rows with start <= column < end."""
    moment = f"CAST({landing.dialect.mark} AS TIMESTAMP)"
    quoted = _quoted(landing, landing.names.get(column, column))
    return f"DELETE FROM {landing.target.sql} WHERE {quoted} >= {moment} AND {quoted} < {moment}"


def delete_among(landing: Landing, column: str, number: int) -> str:
    """Takes `number` values; deletes rows whose column has one of them."""
    marks = ", ".join([landing.dialect.mark] * number)
    quoted = _quoted(landing, landing.names.get(column, column))
    return f"DELETE FROM {landing.target.sql} WHERE {quoted} IN ({marks})"


def rows_without(landing: Landing, column: str) -> str:
    """Counts rows of the target whose column is NULL."""
    quoted = _quoted(landing, landing.names.get(column, column))
    return f"SELECT count(*) FROM {landing.target.sql} WHERE {quoted} IS NULL"


def merge(landing: Landing, patterns: Sequence[KeyPattern]) -> Iterator[str]:
    """Delete staged rows older than the target's, then replace target rows by the others."""
    target, staging = landing.target, landing.staging
    if landing.watermark is not None:
        ours, theirs = staging.column(landing.watermark), target.column(landing.watermark)
        # A NULL watermark is older than any other value.
        less = f"({_less(ours, theirs)})" if has_text_watermark(landing) else f"{ours} < {theirs}"
        older = f"{theirs} IS NOT NULL AND ({ours} IS NULL OR {less})"
        for pattern in patterns:
            same = _same_keys(landing, pattern)
            yield f"DELETE FROM {staging.sql} USING {target.sql} WHERE {same} AND {older}"
    yield from _delete_matching(landing, patterns)
    yield from append(landing)


def has_text_watermark(landing: Landing) -> bool:
    """Whether the watermark is text, which is compared as a number or a time."""
    text = landing.dialect.type_of("", "string")
    return any(c.name == landing.watermark and c.type == text for c in landing.columns)


def not_comparable(landing: Landing, pattern: KeyPattern) -> str:
    """Counts staged rows whose watermark cannot be compared with the target's."""
    mark = str(landing.watermark)
    ours, theirs = landing.staging.column(mark), landing.target.column(mark)
    return (
        f"SELECT count(*) FROM {landing.staging.sql} JOIN {landing.target.sql}"
        f" ON {_same_keys(landing, pattern)} WHERE {ours} <> {theirs}"
        f" AND NOT ({_both(ours, theirs, NUMBER)}) AND NOT ({_both(ours, theirs, TIME)})"
    )


def _less(ours: str, theirs: str) -> str:
    moment = "TIMESTAMP WITH TIME ZONE"
    return (
        f"CASE WHEN {_both(ours, theirs, NUMBER)}"
        f" THEN CAST({ours} AS {DECIMAL}) < CAST({theirs} AS {DECIMAL})"
        f" WHEN {_both(ours, theirs, TIME)}"
        f" THEN CAST({ours} AS {moment}) < CAST({theirs} AS {moment}) ELSE FALSE END"
    )


def _both(ours: str, theirs: str, pattern: str) -> str:
    return f"{ours} ~ {literal(pattern)} AND {theirs} ~ {literal(pattern)}"


def versions(landing: Landing) -> WarehouseTable:
    """The temporary table in which scd2 computes versions."""
    return WarehouseTable(dialect=landing.dialect, schema=None, table=f"{landing.staging.table}_v")


def scd2(
    landing: Landing, patterns: Sequence[KeyPattern], table_columns: Sequence[str]
) -> Iterator[str]:
    """Recompute and replace all versions of the staged keys."""
    versions_table = versions(landing)
    yield f"CREATE TEMP TABLE {versions_table.sql} AS {_versions(landing, patterns, table_columns)}"
    yield from _delete_matching(landing, patterns)
    columns = names(table_columns, dialect=landing.dialect.name)
    yield f"INSERT INTO {landing.target.sql} ({columns}) SELECT {columns} FROM {versions_table.sql}"


def _versions(landing: Landing, patterns: Sequence[KeyPattern], columns: Sequence[str]) -> str:
    quoted = [_quoted(landing, column) for column in columns]
    keys = names(landing.keys, dialect=landing.dialect.name)
    begins, ends, current = (_quoted(landing, column) for column in (FROM, TO, CURRENT))
    in_order = f"PARTITION BY {keys} ORDER BY {begins} NULLS FIRST"
    new_values = {column.name: column.value for column in landing.columns}
    existing = names(columns, dialect=landing.dialect.name, of=landing.target.table)
    both = [
        f"SELECT {existing}, 0 AS {_CAME} "
        f"FROM {landing.target.sql} JOIN {_keys_that_came(landing, pattern)} "
        f"ON {_same_keys(landing, pattern)}"
        for pattern in patterns
    ]
    # In a UNION a NULL takes its type from the SELECT before it, so existing rows come first.
    values = ", ".join(new_values.get(column, "NULL") for column in columns)
    both.append(f"SELECT {values}, 1 AS {_CAME} FROM {landing.staging.sql}")
    # A staged row replaces the existing row with the same start time.
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
    # A repeat is stored with an empty validity: a late change may still fall before it.
    computed = {
        ends: f"CASE WHEN {_REPEATS} = 1 THEN {begins} ELSE {next_begins} END",
        current: f"({_REPEATS} = 0 AND {next_begins} IS NULL)",
    }
    selection = ", ".join(f"{computed.get(column, column)} AS {column}" for column in quoted)
    # Without a watermark the start is the time of the run, and no change can arrive late.
    filter_sql = "" if landing.watermark is not None else f" WHERE {_REPEATS} = 0"
    return f"SELECT {selection} FROM ({marked}) AS m{filter_sql}"


def _unchanged(landing: Landing, in_order: str) -> str:
    """SQL conditions: all values equal those of the version before."""
    # Bronze's columns differ between runs over the same data: they make no new version.
    excluded = {FROM, TO, CURRENT, *BRONZE_COLUMNS}
    exactly = {landing.watermark, *landing.keys}
    conditions = ""
    for column in landing.columns:
        if column.name.lower() in excluded or column.name in exactly:
            continue
        now = _quoted(landing, column.name)
        if column.is_nested:
            now = landing.dialect.comparable(now, has_map=column.has_map)
        before = f"LAG({now}) OVER ({in_order})"
        conditions += f" AND ({now} = {before} OR ({now} IS NULL AND {before} IS NULL))"
    return conditions


def _keys_that_came(landing: Landing, pattern: KeyPattern) -> str:
    keys = names(landing.keys, dialect=landing.dialect.name)
    nulls = " AND ".join(
        f"{_quoted(landing, key)} IS {'' if is_null else 'NOT '}NULL"
        for key, is_null in zip(landing.keys, pattern, strict=True)
    )
    alias = name(landing.staging.table, dialect=landing.dialect.name)
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


def _insert(landing: Landing, source: WarehouseTable, values: Sequence[str]) -> str:
    columns = names([c.name for c in landing.columns], dialect=landing.dialect.name)
    selection = ", ".join(values)
    return f"INSERT INTO {landing.target.sql} ({columns}) SELECT {selection} FROM {source.sql}"


def _quoted(landing: Landing, column: str) -> str:
    return name(column, dialect=landing.dialect.name)
