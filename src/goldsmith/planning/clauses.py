"""Refuse the clauses of a SQL statement that a stage would ignore, naming each clause.

A stage runs only the SELECT of a CREATE TABLE … AS or INSERT … SELECT. Other clauses would be
ignored silently, so only the parts listed here are accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from goldsmith.planning.dialect_terms import Refused
from goldsmith.planning.dialects import not_translated
from goldsmith.planning.query import is_spark

#: What a statement may have around its SELECT. The stage's write_mode decides how rows are written.
_AROUND: dict[type[exp.Expr], frozenset[str]] = {
    exp.Create: frozenset(("this", "kind", "expression", "replace", "with_")),
    exp.Insert: frozenset(("this", "expression", "overwrite", "with_")),
    exp.Table: frozenset(("this", "db", "catalog")),
}
_NAMES = {
    "exists": "IF NOT EXISTS",
    "conflict": "ON CONFLICT",
    "returning": "RETURNING",
    "by_name": "BY NAME",
    "where": "REPLACE WHERE",
    "ignore": "IGNORE",
    "alternative": "OR {value}",
    "partition": "PARTITION",
    "alias": "alias of the table",
    "version": "VERSION or TIMESTAMP AS OF",
    "when": "AT or BEFORE",
    "only": "ONLY",
    "into": "INTO",
    "for_": "FOR XML or JSON",
    "format": "FORMAT",
    "settings": "SETTINGS",
    "offset": "WITH ORDINALITY or OFFSET",
    "connect": "CONNECT BY",
    "locks": "FOR UPDATE or SHARE",
    "options": "the option OPTION",
    "match": "MATCH_RECOGNIZE",
    "search": "SEARCH",
    "global_": "GLOBAL JOIN",
    "totals": "WITH TOTALS",
    "expressions": "LIMIT BY",
    "kind": "SELECT AS {value}",
}
#: Clauses of a SELECT that Spark's grammar, or the Spark SQL that sqlglot prints, does not have.
_OF_SELECT = ("into", "for_", "format", "settings", "kind", "operation_modifiers")
#: Clauses that select a state of a table; a stage reads the snapshot that its plan chose.
_OF_TABLE = ("version", "when", "changes", "partition", "only", "rows_from", "system_time")
#: What sqlglot prints for Spark with the same meaning; anything else of these it leaves out, or
#: prints as words that Spark takes for something else (`a POSITIONAL JOIN b`).
_TRANSLATED: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(
        (
            *("with_", "expressions", "hint", "distinct", "from_", "laterals", "joins", "pivots"),
            *("where", "group", "having", "qualify", "windows", "order", "limit", "offset"),
            *("distribute", "sort", "cluster"),
        )
    ),
    exp.SetOperation: frozenset(
        ("with_", "this", "expression", "distinct", "by_name", "order", "limit", "offset")
    ),
    exp.Subquery: frozenset(
        (
            *("this", "alias", "with_", "joins", "laterals", "pivots", "sample"),
            *("order", "limit", "offset"),
        )
    ),
    exp.Table: frozenset(
        (*("this", "db", "catalog", "alias", "joins", "laterals", "pivots", "sample"), "hints")
    ),
    exp.Join: frozenset(("this", "on", "using", "side", "kind", "method", "hint", "expressions")),
    exp.Unnest: frozenset(("expressions", "alias", "explode_array")),
    exp.Lateral: frozenset(("this", "view", "outer", "alias", "cross_apply")),
    exp.Group: frozenset(("expressions", "grouping_sets", "cube", "rollup", "all")),
    exp.CTE: frozenset(("this", "alias")),
    exp.With: frozenset(("expressions", "recursive")),
    exp.Star: frozenset(("except_",)),
    exp.Limit: frozenset(("this", "expression", "offset", "limit_options")),
    exp.Ordered: frozenset(("this", "desc", "nulls_first")),
}
#: BigQuery counts from 0, as Spark does; WITH ORDINALITY counts from 1.
_COUNTED_FROM_0 = ("bigquery",)
_JOINS = {
    "method": ("", "NATURAL"),
    "kind": ("", "INNER", "OUTER", "CROSS", "SEMI", "ANTI"),
}
_WRITES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Command)
_NOT_IN_SPARK = "is not known to mean the same in Spark: write it otherwise"
_FRACTIONS = frozenset((*exp.DataType.FLOAT_TYPES, exp.DType.DECIMAL, exp.DType.BIGDECIMAL))


def refuse_around(statement: exp.Create | exp.Insert) -> None:
    """Raise for clauses of a CREATE or INSERT other than its table, its columns and its SELECT."""
    if isinstance(statement, exp.Create) and statement.kind != "TABLE":
        raise ValueError(f"it makes a {statement.kind}, and a stage writes a table")
    written = statement.this
    table = written.this if isinstance(written, exp.Schema) else written
    for node in (statement, table):
        for key, value in node.args.items():
            if value and key not in _AROUND[type(node)]:
                clauses = ", ".join(_clause_names(key, value))
                raise ValueError(
                    f"it says {clauses}, and a stage runs only the SELECT: leave that out"
                    " (write_mode, keys, partition_by and the target's options say how rows are"
                    " written)"
                )


def refuse_inside(query: exp.Query, dialect: str | None) -> None:
    """Raise for parts of a query that would be lost in the translation to Spark."""
    if (found := query.find(*_WRITES)) is not None:
        raise ValueError(f"it holds a {found.key.upper()}, and a stage only reads")
    for node in query.find_all(exp.Select):
        _refuse(node, _OF_SELECT, "is not run by Spark: leave that out")
    for table in query.find_all(exp.Table):
        _refuse(table, _OF_TABLE, "cannot be set for an input: the plan decides what a stage reads")
    if is_spark(dialect):
        return
    _refuse_untranslated(query, str(dialect))
    for divided in query.find_all(exp.Div):
        if divided.args.get("typed") and not _is_clear(divided):
            why = "drops the fraction where both are whole numbers, and Spark keeps it"
            refused = Refused(why, "CAST one of them to DECIMAL(p, s), or both to BIGINT.")
            raise not_translated(divided, str(dialect), refused)


def _refuse_untranslated(query: exp.Query, dialect: str) -> None:
    """Raise for a clause of another dialect that the printed Spark SQL would not have."""
    for node in query.walk():
        kind = exp.SetOperation if isinstance(node, exp.SetOperation) else type(node)
        translated = _TRANSLATED.get(kind)
        if translated is None:
            continue
        for key, value in node.args.items():
            if key == "offset" and isinstance(node, exp.Unnest) and dialect in _COUNTED_FROM_0:
                continue
            if value and key not in translated:
                _refuse(node, (key,), _NOT_IN_SPARK)
        if isinstance(node, exp.Join):
            for key, known in _JOINS.items():
                if (word := str(node.args.get(key) or "").upper()) not in known:
                    raise ValueError(f"{word} JOIN {_NOT_IN_SPARK}")


def names_of_list(written: exp.Expr) -> tuple[str, ...]:
    """The column list after the table name, in order."""
    if not isinstance(written, exp.Schema):
        return ()
    columns = written.expressions
    if any(not isinstance(column, exp.Identifier) for column in columns):
        raise ValueError("it gives types to its columns: CAST them in the SELECT instead")
    names = tuple(column.name for column in columns)
    if len({name.lower() for name in names}) < len(names):
        raise ValueError(f"it names a column twice: {', '.join(names)}")
    return names


def _refuse(node: exp.Expr, keys: tuple[str, ...], why: str) -> None:
    for key in keys:
        if value := node.args.get(key):
            raise ValueError(f"{', '.join(_clause_names(key, value))} {why}")


def _clause_names(key: str, value: object) -> Iterator[str]:
    """The names of a clause in SQL."""
    if isinstance(value, exp.Properties):
        for property_ in value.expressions:
            name_parts = re.findall(
                "[A-Z][a-z]*", type(property_).__name__.removesuffix("Property")
            )
            yield " ".join(name_parts).upper() or str(property_.name).upper()
    else:
        yield _NAMES.get(key, key.replace("_", " ").upper()).format(value=value)


def _is_clear(divided: exp.Div) -> bool:
    """The SQL itself shows whether integers are divided."""
    left, right = divided.left, divided.right
    if left.is_type(*exp.DataType.INTEGER_TYPES) and right.is_type(*exp.DataType.INTEGER_TYPES):
        return True  # sqlglot writes DIV
    return any(
        isinstance(node, exp.Avg)
        or (isinstance(node, exp.Literal) and node.is_number and not node.is_int)
        or (isinstance(node, exp.Cast) and node.to.this in _FRACTIONS)
        for side in (left, right)
        for node in side.walk(prune=lambda node: isinstance(node, exp.Query))
    )
