"""The SQLAlchemy Core tables, made from the row classes: one definition for two databases."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.types import TypeDecorator

from goldsmith.catalog.columns import (
    EARLIEST,
    LARGEST_NUMBER,
    LATEST,
    ColumnKind,
    DeclaredColumn,
    read_json,
    write_json,
)
from goldsmith.catalog.rows import DeclaredTable, Row
from goldsmith.catalog.schema import DECLARED

metadata = sa.MetaData()


class Moment(TypeDecorator[datetime]):
    """A point in time: text in UTC on SQLite, `timestamptz` on PostgreSQL."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> Any:
        if dialect.name == "postgresql":
            from sqlalchemy.dialects import postgresql

            return dialect.type_descriptor(postgresql.TIMESTAMP(timezone=True))
        return dialect.type_descriptor(sa.Text())

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> Any:
        if value is None or dialect.name == "postgresql":
            return value
        # Sorts together with what CURRENT_TIMESTAMP writes.
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> datetime | None:
        if value is None:
            return None
        when = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)


class JsonText(TypeDecorator[Any]):
    """JSON: text on SQLite, `jsonb` on PostgreSQL; None is SQL's NULL."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> Any:
        if dialect.name == "postgresql":
            from sqlalchemy.dialects import postgresql

            return dialect.type_descriptor(postgresql.JSONB(none_as_null=True))
        return dialect.type_descriptor(sa.Text())

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> Any:
        if value is None or dialect.name == "postgresql":
            return value
        return write_json(value)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        return read_json(value) if isinstance(value, str) else value


class Names(TypeDecorator[Any]):
    """A list of names, or a policy, stored as text that people can type."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> Any:
        if value is None or isinstance(value, str):
            return value
        return json.dumps(value, ensure_ascii=False)


_TYPES: dict[ColumnKind, Any] = {
    ColumnKind.TEXT: sa.Text,
    ColumnKind.FLAG: sa.Boolean,
    ColumnKind.WHOLE: lambda: sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
    ColumnKind.NUMBER: lambda: sa.Double().with_variant(sa.REAL(), "sqlite"),
    ColumnKind.MOMENT: Moment,
    ColumnKind.LIST: JsonText,
    ColumnKind.MAP: JsonText,
    ColumnKind.NAMES: Names,
    ColumnKind.POLICY: Names,
}

_DATE = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"


def define(spec: DeclaredTable, *constraints: Any, into: sa.MetaData = metadata) -> sa.Table:
    """Make the SQLAlchemy table of a declared table."""
    made = sa.Table(
        spec.name,
        into,
        *(_column(column) for column in spec.columns),
        *_checks(spec),
        *constraints,
        comment=spec.purpose,
    )
    made.info["spec"] = spec
    return made


def _column(column: DeclaredColumn) -> sa.Column[Any]:
    return sa.Column(
        column.name,
        _TYPES[column.kind](),
        primary_key=column.is_key,
        nullable=not (column.required or column.is_key),
        server_default=_server_default(column),
        autoincrement=column.serial,
        comment=column.doc,
    )


def _server_default(column: DeclaredColumn) -> Any:
    if column.generated and column.kind is ColumnKind.MOMENT:
        return sa.func.current_timestamp()
    if column.default is None:
        return None
    if column.kind is ColumnKind.FLAG:
        return sa.true() if column.default else sa.false()
    return sa.text(str(column.default)) if not isinstance(column.default, str) else column.default


def _checks(spec: DeclaredTable) -> Iterable[sa.CheckConstraint]:
    """The CHECK constraints: the database refuses bad values from every writer."""
    for column in spec.columns:
        for dialect, rule in _rules(column):
            check = sa.CheckConstraint(rule, name=f"ck_{spec.name}_{column.name}")
            yield check.ddl_if(dialect=dialect) if dialect else check


def _rules(column: DeclaredColumn) -> Iterable[tuple[str | None, str]]:
    # Column names come from the row classes: none of them needs quoting.
    name = column.name
    bounds = [f"{name} >= {column.least:g}"] if column.least is not None else []
    bounds += [f"{name} <= {column.most:g}"] if column.most is not None else []
    if column.choices:
        yield None, f"{name} IN ({', '.join(repr(choice) for choice in column.choices)})"
        return
    match column.kind:
        case ColumnKind.FLAG:
            yield "sqlite", f"{name} IN (0, 1)"
        case ColumnKind.WHOLE:
            yield "sqlite", " AND ".join([f"typeof({name}) IN ('integer', 'null')", *bounds])
            if bounds:
                yield "postgresql", " AND ".join(bounds)
        case ColumnKind.NUMBER:
            least = f"-{LARGEST_NUMBER:g}" if column.least is None else f"{column.least:g}"
            most = f"{LARGEST_NUMBER:g}" if column.most is None else f"{column.most:g}"
            # PostgreSQL's NaN is larger than any number, so both bounds are needed.
            between = f"{name} BETWEEN {least} AND {most}"
            yield "sqlite", f"typeof({name}) IN ('integer', 'real', 'null') AND {between}"
            yield "postgresql", between
        case ColumnKind.MOMENT:
            yield "sqlite", f"{name} IS NULL OR ({_sqlite_moment(name)})"
            yield "postgresql", f"{name} >= '{EARLIEST}' AND {name} < '{LATEST}'"
        case ColumnKind.LIST | ColumnKind.MAP:
            shape = "array" if column.kind is ColumnKind.LIST else "object"
            valid = f"json_valid({name}) AND json_type({name}) = '{shape}'"
            yield "sqlite", f"{name} IS NULL OR (typeof({name}) = 'text' AND {valid})"
            yield "postgresql", f"jsonb_typeof({name}) = '{shape}'"
        case _:
            yield "sqlite", f"typeof({name}) IN ('text', 'null')"


def _sqlite_moment(name: str) -> str:
    """A time Python can parse too: SQLite also accepts 31 February, 24:00 and extra blanks."""
    day = f"substr({name}, 1, 10)"
    return " AND ".join(
        [
            f"typeof({name}) = 'text'",
            f"({name} GLOB '{_DATE}' OR {name} GLOB '{_DATE}[ T][0-2][0-9]:[0-5][0-9]*')",
            f"substr({name}, 12) NOT GLOB '*[^0-9:.Z+-]*'",
            f"substr({name}, 12, 2) <> '24'",
            f"julianday({name}) IS NOT NULL",
            f"date({day}, '+0 days') = {day}",
            f"{name} BETWEEN '{EARLIEST:%Y}' AND '{LATEST:%Y}'",
        ]
    )


TABLES: dict[str, sa.Table] = {row.table.name: define(row.table) for row in DECLARED}

#: One row: the catalog's revision, which increases with every change.
revision_table = sa.Table(
    "catalog_revision",
    metadata,
    sa.Column("one", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.CheckConstraint("one = 1", name="ck_catalog_revision_one"),
    comment="One row with the catalog's revision, which rises with every change.",
)

#: Who changes rows in the current transaction, and why; its rows are never committed.
context_table = sa.Table(
    "change_context",
    metadata,
    # PostgreSQL's transaction id; always 0 on SQLite, which has one writer at a time.
    sa.Column("transaction_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("reason", sa.Text),
    comment="The actor and the reason of the changes in the current transaction.",
)

changes_table = sa.Table(
    "changes",
    metadata,
    sa.Column(
        "change_id",
        sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
        primary_key=True,
        autoincrement=True,
    ),
    sa.Column("revision", sa.BigInteger, nullable=False, index=True),
    sa.Column("at", Moment, nullable=False, server_default=sa.func.current_timestamp()),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("table_name", sa.Text, nullable=False),
    sa.Column("row_key", sa.Text, nullable=False),
    sa.Column("operation", sa.Text, nullable=False),
    sa.Column("before", JsonText),
    sa.Column("after", JsonText),
    sa.CheckConstraint("operation IN ('insert', 'update', 'delete')", name="ck_changes_operation"),
    sa.Index("ix_changes_row", "table_name", "row_key", "change_id"),
    comment="Every change of a declared row: who, when, why, before and after.",
    sqlite_autoincrement=True,
)


def table_of(row: type[Row]) -> sa.Table:
    return metadata.tables[row.table.name]


def storable(row: Row, *, exact: bool = False) -> dict[str, Any]:
    """A row's values as the SQLAlchemy types accept them.

    A column the database fills in is left out if the row has no value for it, unless `exact`.
    """
    return {
        column.name: _storable(column, getattr(row, column.name))
        for column in row.table.columns
        if exact or not (column.generated and getattr(row, column.name) is None)
    }


def _storable(column: DeclaredColumn, value: Any) -> Any:
    if value is None or (value == column.when_null and not column.required):
        return None
    if column.kind in (ColumnKind.LIST, ColumnKind.NAMES):
        return list(value)
    if column.kind is ColumnKind.MAP:
        return dict(value)
    return value
