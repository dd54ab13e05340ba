"""Checks that a query implies for the table it fills, each with the clause that implies it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from goldsmith.digest.values import RuleSuggestion, StatementDigest

#: Longer clauses are cut: they explain a suggestion to a person.
_LONGEST_CLAUSE = 200


def rules_of(statement: StatementDigest) -> list[RuleSuggestion]:
    """The rules of a statement: those its own clauses name, and those its query implies."""
    found = list(statement.rules)
    if statement.filled_by is not None and len(statement.downstream) == 1:
        columns = [edge.column for edge in statement.columns]
        for rule in _suggested(statement.filled_by, statement.downstream[0], columns):
            if rule not in found:
                found.append(rule)
    return found


def _suggested(query: exp.Expr, target: str, columns: Sequence[str]) -> Iterator[RuleSuggestion]:
    """What holds for every row of a query's result, by its clauses.

    `columns` are the names in the target, by position. A query of several branches or with a
    star implies nothing here: the name of a column would be a guess.
    """
    while isinstance(query, exp.Subquery) and not query.args.get("alias"):
        query = query.this
    if not isinstance(query, exp.Select) or len(query.expressions) != len(columns):
        return
    names: dict[str, str] = {}
    for projection, name in zip(query.expressions, columns, strict=True):
        inner = projection.this if isinstance(projection, exp.Alias) else projection
        names.setdefault(_text(inner), name)
    for check, clause in _implied(query, names):
        text = clause if len(clause) <= _LONGEST_CLAUSE else f"{clause[:_LONGEST_CLAUSE]} …"
        yield RuleSuggestion(target, check, text)


def _text(node: exp.Expr) -> str:
    """An expression as a key: names without quotes and case."""
    return str(node.sql(normalize=True, identify=False)).lower()


def _implied(
    query: exp.Select, names: Mapping[str, str]
) -> Iterator[tuple[Mapping[str, Any], str]]:
    yield from _group_keys(query, names)
    yield from _first_rows(query, names)
    where = query.args.get("where")
    for condition in _conjuncts(where.this) if isinstance(where, exp.Where) else ():
        yield from _condition(condition, names)
    for join in query.args.get("joins") or ():
        yield from _joined(join, names)


def _group_keys(
    query: exp.Select, names: Mapping[str, str]
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """GROUP BY keys are unique if all of them are selected."""
    group = query.args.get("group")
    if not isinstance(group, exp.Group) or any(
        group.args.get(key) for key in ("rollup", "cube", "grouping_sets", "all", "totals")
    ):
        return
    outputs = list(names.values())
    keys: list[str] = []
    for key in group.expressions:
        if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.this) <= len(outputs):
            keys.append(outputs[int(key.this) - 1])
        elif _text(key) in names:
            keys.append(names[_text(key)])
        elif isinstance(key, exp.Column) and key.name.lower() in outputs:
            keys.append(key.name.lower())
        else:
            return
    if keys:
        yield {"type": "unique", "columns": keys}, group.sql().strip()


def _first_rows(
    query: exp.Select, names: Mapping[str, str]
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """`QUALIFY ROW_NUMBER() OVER (PARTITION BY k …) = 1` keeps one row of each k."""
    qualify = query.args.get("qualify")
    for condition in _conjuncts(qualify.this) if isinstance(qualify, exp.Qualify) else ():
        if not (isinstance(condition, exp.EQ) and condition.expression.sql() == "1"):
            continue
        window = condition.this
        if isinstance(window, exp.Column):
            window = next(
                (p.this for p in query.expressions if p.alias.lower() == window.name.lower()),
                window,
            )
        if isinstance(window, exp.Window) and isinstance(window.this, exp.RowNumber):
            keys = [names.get(_text(key)) for key in window.args.get("partition_by") or ()]
            if keys and all(keys):
                yield {"type": "unique", "columns": keys}, condition.sql()


def _conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    waiting, found = [condition], list[exp.Expr]()
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Paren):
            waiting.append(node.this)
        elif isinstance(node, exp.And):
            waiting += [node.expression, node.this]
        else:
            found.append(node)
    return found


def _condition(
    condition: exp.Expr, names: Mapping[str, str]
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """What a WHERE condition says of a selected column."""
    if isinstance(condition, exp.Not) and isinstance(condition.this, exp.Is):
        name = names.get(_text(condition.this.this))
        if name and isinstance(condition.this.expression, exp.Null):
            yield {"type": "not_null", "column": name}, condition.sql()
        return
    name = names.get(_text(condition.this)) if isinstance(condition.this, exp.Column) else None
    if name is None:
        return
    if isinstance(condition, exp.In) and condition.expressions:
        values = [_literal(value) for value in condition.expressions]
        if all(value is not None for value in values):
            yield {"type": "one_of", "column": name, "values": values}, condition.sql()
    elif isinstance(condition, exp.Between):
        low, high = _literal(condition.args["low"]), _literal(condition.args["high"])
        if isinstance(low, int | float) and isinstance(high, int | float):
            check = {"type": "in_range", "column": name, "min": low, "max": high}
            yield check, condition.sql()


def _literal(node: exp.Expr) -> str | int | float | None:
    sign = 1
    if isinstance(node, exp.Neg):
        node, sign = node.this, -1
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string:
        return str(node.this)
    return sign * (int(node.this) if node.is_int else float(node.this))


def _joined(join: exp.Join, names: Mapping[str, str]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Keys of an inner join hold a value in every row that is left."""
    if join.args.get("side") or str(join.args.get("kind") or "").upper() not in ("", "INNER"):
        return
    condition = join.args.get("on")
    for part in _conjuncts(condition) if isinstance(condition, exp.Expr) else ():
        if isinstance(part, exp.EQ):
            for side in (part.this, part.expression):
                name = names.get(_text(side)) if isinstance(side, exp.Column) else None
                if name:
                    yield {"type": "not_null", "column": name}, f"JOIN … ON {part.sql()}"
