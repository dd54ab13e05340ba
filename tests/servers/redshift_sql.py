"""Redshift's SQL on PostgreSQL: what is rewritten, what is refused, what every database has."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

COPY = re.compile(
    r"\s*COPY\s+(?P<table>(?:\"[^\"]+\"|[\w.])+)\s+FROM\s+'s3://(?P<address>[^']*)'(?P<options>.*)$",
    re.I | re.S,
)
UNLOAD = re.compile(
    r"\s*UNLOAD\s*\(\s*'(?P<query>(?:[^']|'')*)'\s*\)\s*TO\s+'s3://(?P<address>[^']*)'"
    r"(?P<options>.*)$",
    re.I | re.S,
)
_CANCEL = re.compile(r"\s*CANCEL\s+(\d+)\s*;?\s*$", re.I)
#: Text, quoted names and bodies of functions are not looked into.
_QUOTED = re.compile(r"('(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$\$.*?\$\$)", re.S)
_DDL = re.compile(r"\s*(CREATE|ALTER)\b", re.I)
_NOT_IN_POSTGRES = (
    (r"\bDISTSTYLE\s+\w+", ""),
    (r"\bDISTKEY\s*\(\s*\)", ""),
    (r"\b(COMPOUND\s+|INTERLEAVED\s+)?SORTKEY\s*\([\s,]*\)", ""),
    (r"\bENCODE\s+\w+", ""),
    (r"\bSUPER\b", "jsonb"),
    (r"\bVARBYTE\s*(\(\s*\d+\s*\))?", "bytea"),
)
_KEYS = re.compile(r"\b((?:DIST|SORT)KEY\s*)\((?:\s*\"(?:[^\"]|\"\")*\"\s*,?)+\)", re.I)
_COPY_WORDS = {"format", "as", "parquet", "manifest", "serializetojson", "iam_role", "default"}

#: What Redshift does not have, with what it says and as which SQLSTATE.
_REFUSED = (
    (r"\bON\s+CONFLICT\b", "42601", 'syntax error at or near "ON"'),
    (r"\bRETURNING\b", "42601", 'syntax error at or near "RETURNING"'),
    (r"\bFOR\s+UPDATE\b", "0A000", "SELECT FOR UPDATE/SHARE is not supported"),
    (r"\bUNLOGGED\b", "42601", 'syntax error at or near "UNLOGGED"'),
    (r"\bJSONB?\b(?!\s*\()", "42704", 'type "jsonb" does not exist'),
    (r"\bBYTEA\b", "42704", 'type "bytea" does not exist'),
    (r"\bIS\s+(NOT\s+)?DISTINCT\s+FROM\b", "42601", 'syntax error at or near "DISTINCT"'),
    (r"\bADD\s+COLUMN\s+IF\b", "42601", 'syntax error at or near "IF"'),
    (r"\bIN\s+(\w+\s+)*MODE\b", "42601", 'syntax error at or near "IN"'),
)

OWN_THINGS = """
CREATE SCHEMA IF NOT EXISTS redshift_system;
CREATE TABLE IF NOT EXISTS redshift_system.load_errors (
    query bigint GENERATED ALWAYS AS IDENTITY, starttime timestamp DEFAULT clock_timestamp(),
    session integer, filename text, line_number bigint, colname text, err_reason text);
CREATE OR REPLACE VIEW stl_load_errors AS SELECT * FROM redshift_system.load_errors;
CREATE OR REPLACE VIEW sys_load_error_detail AS
    SELECT query AS query_id, session AS session_id, starttime AS start_time,
        filename AS file_name, line_number, colname AS column_name, err_reason AS error_message
    FROM redshift_system.load_errors;
CREATE OR REPLACE VIEW svv_transactions AS
    SELECT a.usename AS txn_owner, a.datname AS txn_db, l.pid, a.xact_start AS txn_start,
        l.mode AS lock_mode, l.locktype AS lockable_object_type, l.relation, l.granted
    FROM pg_locks l JOIN pg_stat_activity a USING (pid);
CREATE OR REPLACE VIEW stv_recents AS
    SELECT CASE state WHEN 'active' THEN 'Running' ELSE 'Done' END AS status, pid, query,
        usename AS user_name, datname AS db_name, query_start AS starttime
    FROM pg_stat_activity WHERE backend_type = 'client backend';
CREATE OR REPLACE VIEW svv_tables AS
    SELECT table_catalog::varchar, table_schema::varchar, table_name::varchar, table_type::varchar,
        obj_description(format('%I.%I', table_schema, table_name)::regclass)::varchar AS remarks
    FROM information_schema.tables;
CREATE OR REPLACE VIEW svv_columns AS
    SELECT table_catalog::varchar, table_schema::varchar, table_name::varchar,
        column_name::varchar, ordinal_position::integer, column_default::varchar,
        is_nullable::varchar, data_type::varchar, character_maximum_length::integer,
        numeric_precision::integer, numeric_scale::integer,
        col_description(format('%I.%I', table_schema, table_name)::regclass,
            ordinal_position)::varchar AS remarks
    FROM information_schema.columns;
CREATE OR REPLACE VIEW svv_table_info AS
    SELECT current_database()::text AS database, n.nspname::text AS schema, c.oid AS table_id,
        c.relname::text AS "table", 1::bigint AS size, c.reltuples::numeric(38, 0) AS tbl_rows
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND c.reltuples > 0;
CREATE TABLE IF NOT EXISTS redshift_system.history (
    user_id integer, query_id bigint, session_id integer, database_name char(128),
    status char(10), start_time timestamp, end_time timestamp, elapsed_time bigint,
    error_message char(512), returned_rows bigint, query_text text);
CREATE OR REPLACE VIEW sys_query_history AS
    SELECT user_id, query_id, session_id, database_name, status, start_time, end_time,
        elapsed_time, error_message, returned_rows, left(query_text, 4000)::char(4000) AS query_text
    FROM redshift_system.history;
CREATE OR REPLACE VIEW sys_query_text AS
    SELECT user_id, query_id, piece AS sequence,
        substr(query_text, 1 + piece * 4000, 4000)::varchar(4000) AS text
    FROM redshift_system.history,
        generate_series(0, (length(query_text) - 1) / 4000) AS piece;
CREATE OR REPLACE FUNCTION getdate() RETURNS timestamp LANGUAGE sql AS
    $$ SELECT date_trunc('second', clock_timestamp() AT TIME ZONE 'UTC') $$;
CREATE OR REPLACE FUNCTION json_parse(varchar) RETURNS jsonb LANGUAGE sql IMMUTABLE STRICT AS
    $$ SELECT $1::jsonb $$;
CREATE OR REPLACE FUNCTION json_serialize_to_varbyte(jsonb) RETURNS bytea
    LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT convert_to($1::text, 'UTF8') $$;
"""


def is_own(text: str) -> bool:
    """The stand-in carries the statement out itself."""
    return bool(COPY.match(text) or UNLOAD.match(text))


def rewritten(text: str, *, in_transaction: bool = False) -> str:
    """A statement as PostgreSQL takes it, or one that raises what Redshift would say."""
    if refused := _refusal(text, in_transaction=in_transaction):
        return raising(*refused)
    if cancelled := _CANCEL.match(text):
        return f"DO 'BEGIN PERFORM pg_cancel_backend({cancelled[1]}); END'"
    text = folded(text)
    if not _DDL.match(text):
        return text
    # Keys of the layout are names in parentheses; the names go first.
    text = _KEYS.sub(r"\1()", text)
    parts = _QUOTED.split(text)
    for index in range(0, len(parts), 2):
        for pattern, instead in _NOT_IN_POSTGRES:
            parts[index] = re.sub(pattern, instead, parts[index], flags=re.I)
    return "".join(parts)


def folded(text: str) -> str:
    """Redshift folds quoted names to lower case too."""
    parts = _QUOTED.split(text)
    return "".join(part.lower() if part.startswith('"') else part for part in parts)


def _refusal(text: str, *, in_transaction: bool) -> tuple[str, str] | None:
    outside = " ".join(_QUOTED.split(text)[::2])
    if in_transaction and re.match(r"\s*TRUNCATE\b", outside, re.I):
        # The real one commits the transaction in silence, which is worse.
        return "0A000", "TRUNCATE in a transaction commits it"
    for pattern, state, says in _REFUSED:
        if re.search(pattern, outside, re.I):
            return state, says
    return None


def raising(state: str, says: str) -> str:
    """A statement that fails."""
    quoted = says.replace("'", "''")
    raised = f"RAISE EXCEPTION USING ERRCODE = '{state}', MESSAGE = '{quoted}'"
    return f"DO $raise$ BEGIN {raised}; END $raise$"


def copy_problem(options: str) -> str | None:
    """What Redshift would mind of the options of a COPY."""
    keywords = {keyword.lower() for keyword in re.findall(r"\w+", re.sub(r"'[^']*'", "", options))}
    if "iam_role" not in keywords:
        return "COPY needs IAM_ROLE or other credentials"
    if "parquet" not in keywords:
        return "The stand-in copies Parquet only"
    unknown = keywords - _COPY_WORDS
    return (
        f"{', '.join(sorted(unknown))} is not supported for PARQUET based COPY" if unknown else None
    )


def described(body: bytes) -> list[tuple[str, int, int]]:
    """Names, types and modifiers of a description of rows."""
    found, at = [], 2
    for _ in range(struct.unpack("!H", body[:2])[0]):
        end = body.index(b"\0", at)
        oid, _size, modifier = struct.unpack("!IHi", body[end + 7 : end + 17])
        found.append((body[at:end].decode(), oid, modifier))
        at = end + 19
    return found


def type_places(body: bytes) -> Iterator[tuple[int, int]]:
    """Where the types stand in a description of rows, and which they are."""
    at = 2
    for _ in range(struct.unpack("!H", body[:2])[0]):
        end = body.index(b"\0", at)
        yield end + 7, struct.unpack("!I", body[end + 7 : end + 11])[0]
        at = end + 19


def load_error(body: bytes) -> tuple[int | None, str | None, str]:
    """Which row and column an error of COPY is about, and its reason."""
    fields = {part[:1]: part[1:].decode() for part in body.rstrip(b"\0").split(b"\0")}
    found = re.search(r"line (\d+)(?:, column ([^:]+))?", fields.get(b"W", ""))
    line, column = (int(found[1]), found[2]) if found else (None, None)
    return line, column, fields.get(b"M", "")
