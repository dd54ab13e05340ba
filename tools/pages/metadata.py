"""docs/metadata.md: the design of the metadata, table by table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from goldsmith.catalog.columns import ColumnKind, DeclaredColumn
from goldsmith.catalog.definitions import (
    changes_table,
    context_table,
    revision_table,
    table_of,
)
from goldsmith.catalog.profiles import SETTINGS
from goldsmith.catalog.rows import Row
from goldsmith.catalog.schema import DECLARED
from goldsmith.journal.definitions import OBSERVED as OBSERVED_TABLES
from goldsmith.journal.tables import OBSERVED
from goldsmith.journal.view import View
from goldsmith.journal.views import VIEWS
from pages import events, shipped
from pages.diagram import entities
from pages.markdown import code, filled, table
from pages.seed import SEED

_WORDS: Mapping[ColumnKind, str] = {
    ColumnKind.TEXT: "text",
    ColumnKind.FLAG: "true or false",
    ColumnKind.WHOLE: "whole number",
    ColumnKind.NUMBER: "number",
    ColumnKind.MOMENT: "time",
    ColumnKind.LIST: "JSON list",
    ColumnKind.MAP: "JSON object",
    ColumnKind.NAMES: "list of names",
    ColumnKind.POLICY: "word or JSON object",
}
_BOOKKEEPING: Mapping[str, Mapping[str, str]] = {
    "changes": {
        "change_id": "Rises with every change of a row.",
        "revision": "The revision it belongs to; the rows of one transaction share one.",
        "at": "When.",
        "actor": "Who: the `--actor` of `apply`, else the session's user (PostgreSQL) or `direct`.",
        "reason": "Why, if a reason was given.",
        "table_name": "The table.",
        "row_key": "The row's key, as a JSON list.",
        "operation": "insert, update or delete.",
        "before": "The whole row before, as JSON; not set for an insert.",
        "after": "The whole row after, as JSON; not set for a delete.",
    },
    "catalog_revision": {
        "one": "Always 1: there is one row.",
        "revision": "Increases with every change.",
    },
    "change_context": {
        "transaction_id": "PostgreSQL's transaction; 0 on SQLite, which has one writer.",
        "revision": "The revision the transaction makes.",
        "actor": "Who.",
        "reason": "Why.",
    },
}


def page() -> str:
    own = (changes_table, revision_table, context_table)
    declared = [table_of(row) for row in DECLARED]
    made = {
        "entities": entities([*declared, *OBSERVED_TABLES, *own]),
        "declared": "\n\n".join(_described(row) for row in DECLARED),
        "observed": "\n\n".join(_described(row) for row in OBSERVED),
        "bookkeeping": "\n\n".join(_bookkeeping(each) for each in own),
        "settings": table(["setting_key", "meaning"], [(code(k), v) for k, v in SETTINGS.items()]),
        "shipped": shipped.listed(),
        "views": "\n\n".join(_view(view) for view in VIEWS),
        "events": events.listed(),
    }
    return filled("metadata.md", made)


def _described(row: type[Row]) -> str:
    spec = row.table
    facts = [
        f"- Read by: {spec.read_by}",
        f"- A change takes effect: {spec.takes_effect}",
        f"- Key: {_names(spec.key)}",
    ]
    if row in OBSERVED:
        del facts[1]
    columns = [(code(column.name), *_column(column, row), column.doc) for column in spec.columns]
    heads = ["column", "from", "holds", "SQLite, PostgreSQL", "default", "meaning"]
    return "\n\n".join([f"### {spec.name}", spec.purpose, "\n".join(facts), table(heads, columns)])


def _column(column: DeclaredColumn, row: type[Row]) -> tuple[str, str, str, str]:
    origin = "seed" if column.name in SEED.get(row.table.name, ()) else "ours"
    return origin, _holds(column), _types(table_of(row).c[column.name]), _default(column)


def _holds(column: DeclaredColumn) -> str:
    if column.choices:
        return "one of " + ", ".join(code(choice) for choice in column.choices)
    bounds = [f"≥ {column.least:g}"] if column.least is not None else []
    bounds += [f"≤ {column.most:g}"] if column.most is not None else []
    return ", ".join([_WORDS[column.kind], *bounds])


def _types(column: sa.Column[object]) -> str:
    """The type as each database spells it; said once where both spell it alike."""
    names = [
        column.type.compile(dialect=dialect).lower().replace(" with time zone", "tz")
        for dialect in (sqlite.dialect(), postgresql.dialect())  # type: ignore[no-untyped-call]
    ]
    return ", ".join(dict.fromkeys(names))


def _default(column: DeclaredColumn) -> str:
    if column.serial:
        return "the next number"
    if column.generated:
        return "now" if column.kind is ColumnKind.MOMENT else "filled in by `apply`"
    if column.is_key or (column.required and column.default is None):
        return "required"
    if column.default is None:
        return "not set"
    return code(str(column.default).lower() if column.kind is ColumnKind.FLAG else column.default)


def _bookkeeping(made: sa.Table) -> str:
    docs = _BOOKKEEPING[made.name]
    if list(docs) != [column.name for column in made.columns]:
        raise LookupError(f"tools/pages/metadata.py does not know the columns of {made.name}")
    rows = [(code(name), _types(made.c[name]), says) for name, says in docs.items()]
    listed = table(["column", "SQLite, PostgreSQL", "meaning"], rows)
    return f"### {made.name}\n\n{made.comment}\n\n{listed}"


def _view(view: View) -> str:
    listed = table(["column", "meaning"], [(code(n), says) for n, says in view.columns.items()])
    return f"### {view.name}\n\n{view.purpose}\n\n{listed}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(code(name) for name in names)
