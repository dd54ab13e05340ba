"""Database triggers: they record every change of a declared row, also one typed into `psql`.

They use built-in SQL only, because a function registered by a Goldsmith process would be missing
in a plain `sqlite3`. Actor and reason come from the `change_context` row that `begin_change`
writes in the same transaction; without it the actor is the session user (PostgreSQL) or `direct`
(SQLite).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import sqlalchemy as sa

from goldsmith.catalog.columns import ColumnKind, DeclaredColumn
from goldsmith.catalog.rows import DeclaredTable
from goldsmith.catalog.schema import DECLARED

#: The channel on which PostgreSQL notifies of each new revision.
CHANNEL = "goldsmith_catalog"


def install(connection: sa.Connection) -> None:
    """Create or replace every trigger from the current definitions, on the existing tables."""
    make = _sqlite if connection.dialect.name == "sqlite" else _postgresql
    for statement in make(list(_existing(connection))):
        connection.exec_driver_sql(statement)


def _existing(connection: sa.Connection) -> Iterator[DeclaredTable]:
    """The declared tables that exist, with their existing columns: a catalog may be older."""
    inspector = sa.inspect(connection)
    there = set(inspector.get_table_names())
    for row in DECLARED:
        if row.table.name in there:
            columns = {column["name"] for column in inspector.get_columns(row.table.name)}
            yield DeclaredTable(
                row.table.name,
                [column for column in row.table.columns if column.name in columns],
                row=row,
                purpose=row.table.purpose,
                read_by=row.table.read_by,
                takes_effect=row.table.takes_effect,
            )


def _sqlite(declared: Iterable[DeclaredTable]) -> Iterator[str]:
    for spec in declared:
        name = spec.name
        new, old = _sqlite_image(spec, "NEW"), _sqlite_image(spec, "OLD")
        new_key, old_key = _sqlite_key(spec, "NEW"), _sqlite_key(spec, "OLD")
        for event in ("insert", "update", "delete"):
            yield f"DROP TRIGGER IF EXISTS {name}_{event}_history"
        # INSERT OR REPLACE removes the old row without firing a trigger: the last image of the
        # key in the history tells whether there was one.
        last = (
            f"(SELECT after FROM changes WHERE table_name = '{name}' AND row_key = {new_key}"
            " ORDER BY change_id DESC LIMIT 1)"
        )
        how = f"iif({last} IS NULL, 'insert', 'update')"
        differs = " OR ".join(f"OLD.{c.name} IS NOT NEW.{c.name}" for c in spec.columns)
        moved = f"{old_key} IS NOT {new_key}"
        on_insert = _record(name, new_key, how, last, new)
        on_delete = _record(name, old_key, "'delete'", old, "NULL")
        on_update = (
            _record(name, old_key, "'delete'", old, "NULL", where=moved)
            + _record(name, new_key, "'insert'", "NULL", new, where=moved)
            + _record(name, new_key, "'update'", old, new, where=f"NOT ({moved})")
        )
        yield _sqlite_trigger(name, "insert", on_insert)
        yield _sqlite_trigger(name, "update", on_update, when=f"WHEN {differs}")
        yield _sqlite_trigger(name, "delete", on_delete)


def _sqlite_trigger(name: str, event: str, record: str, *, when: str = "") -> str:
    return (
        f"CREATE TRIGGER {name}_{event}_history AFTER {event.upper()} ON {name} {when}"
        f" BEGIN {_SQLITE_BUMP} {record} END"
    )


_SQLITE_BUMP = (
    "UPDATE catalog_revision SET revision = revision + 1"
    " WHERE NOT EXISTS (SELECT 1 FROM change_context);"
)


def _record(
    table: str, key: str, operation: str, before: str, after: str, *, where: str = "1"
) -> str:
    return (
        "INSERT INTO changes (revision, at, actor, reason, table_name, row_key, operation,"
        ' "before", "after")'
        " SELECT (SELECT revision FROM catalog_revision),"
        " strftime('%Y-%m-%d %H:%M:%f000', 'now'),"
        " coalesce((SELECT actor FROM change_context), 'direct'),"
        f" (SELECT reason FROM change_context), '{table}', {key}, {operation},"
        f" {before}, {after} WHERE {where};"
    )


def _sqlite_key(spec: DeclaredTable, side: str) -> str:
    return f"json_array({', '.join(f'{side}.{name}' for name in spec.key)})"


def _sqlite_image(spec: DeclaredTable, side: str) -> str:
    pairs = ", ".join(f"'{column.name}', {_sqlite_value(column, side)}" for column in spec.columns)
    return f"json_object({pairs})"


def _sqlite_value(column: DeclaredColumn, side: str) -> str:
    name = f"{side}.{column.name}"
    if column.kind is ColumnKind.NUMBER:
        # json_object rounds a REAL to 15 digits; the image must keep the exact number.
        return f"iif(typeof({name}) = 'real', json(printf('%!.17g', {name})), {name})"
    if column.kind in (ColumnKind.LIST, ColumnKind.MAP):
        return f"json({name})"
    return name


def _postgresql(declared: Iterable[DeclaredTable]) -> Iterator[str]:
    yield _LOCK_FUNCTION
    yield _RECORD_FUNCTION
    yield _TRUNCATE_FUNCTION
    for spec in declared:
        name = spec.name
        keys = ", ".join(f"'{column}'" for column in spec.key)
        # Replaced, not dropped and created: a drop would wait for all readers of the table.
        yield (
            f"CREATE OR REPLACE TRIGGER {name}_lock BEFORE INSERT OR UPDATE OR DELETE ON {name}"
            " FOR EACH STATEMENT EXECUTE FUNCTION goldsmith_lock_revision()"
        )
        yield (
            f"CREATE OR REPLACE TRIGGER {name}_history AFTER INSERT OR UPDATE OR DELETE ON {name}"
            f" FOR EACH ROW EXECUTE FUNCTION goldsmith_record_change({keys})"
        )
        yield (
            f"CREATE OR REPLACE TRIGGER {name}_truncate BEFORE TRUNCATE ON {name}"
            " FOR EACH STATEMENT EXECUTE FUNCTION goldsmith_delete_every_row()"
        )


# The row of the revision is locked before any other: transactions that change rows in different
# orders queue here instead of deadlocking, and revisions are assigned in commit order.
_LOCK_FUNCTION = """
CREATE OR REPLACE FUNCTION goldsmith_lock_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM catalog_revision FOR UPDATE;
  RETURN NULL;
END $$
"""

# TRUNCATE fires no row triggers, so all rows are deleted first.
_TRUNCATE_FUNCTION = """
CREATE OR REPLACE FUNCTION goldsmith_delete_every_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'DELETE FROM ' || TG_RELID::regclass;
  RETURN NULL;
END $$
"""

_RECORD_FUNCTION = f"""
CREATE OR REPLACE FUNCTION goldsmith_record_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  who change_context;
  old_row jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
  new_row jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
  old_key text;
  new_key text;
BEGIN
  IF old_row IS NOT DISTINCT FROM new_row THEN
    RETURN NULL;
  END IF;
  SELECT * INTO who FROM change_context WHERE transaction_id = txid_current();
  IF NOT FOUND THEN
    -- Rows of other transactions are leftovers: while we hold the revision nobody else writes.
    DELETE FROM change_context;
    INSERT INTO change_context (transaction_id, revision, actor)
      SELECT txid_current(), revision + 1, session_user FROM catalog_revision
      RETURNING * INTO who;
    UPDATE catalog_revision SET revision = who.revision;
  END IF;
  SELECT '[' || string_agg((old_row -> name)::text, ',' ORDER BY place) || ']',
         '[' || string_agg((new_row -> name)::text, ',' ORDER BY place) || ']'
    INTO old_key, new_key
    FROM unnest(TG_ARGV) WITH ORDINALITY AS keys (name, place);
  IF TG_OP = 'UPDATE' AND old_key <> new_key THEN
    INSERT INTO changes (revision, at, actor, reason, table_name, row_key, operation, before)
      VALUES (who.revision, clock_timestamp(), who.actor, who.reason, TG_TABLE_NAME, old_key,
              'delete', old_row);
    INSERT INTO changes (revision, at, actor, reason, table_name, row_key, operation, after)
      VALUES (who.revision, clock_timestamp(), who.actor, who.reason, TG_TABLE_NAME, new_key,
              'insert', new_row);
  ELSE
    INSERT INTO changes (revision, at, actor, reason, table_name, row_key, operation,
                         before, after)
      VALUES (who.revision, clock_timestamp(), who.actor, who.reason, TG_TABLE_NAME,
              coalesce(new_key, old_key), lower(TG_OP), old_row, new_row);
  END IF;
  PERFORM pg_notify('{CHANNEL}', who.revision::text);
  RETURN NULL;
END $$
"""
