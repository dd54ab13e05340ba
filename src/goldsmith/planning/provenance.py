"""Provenance: find out whether every result row of a query names its source file.

The SQL tree gives the answer: the column `_source_file` of one input is followed through stars,
common table expressions, subqueries, joins and unions. What cannot be proven counts as no.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from sqlglot import exp

from goldsmith.catalog.transforms import transforms_of
from goldsmith.planning.query import is_spark, query_of, statement_of, table_name
from goldsmith.planning.stage_context import StageContext

SOURCE_FILE = "_source_file"
#: The column's position among the columns of a query is an index from the left, or one of these:
#: added as the last column, wherever a star puts it, not known.
_LAST, _STAR, _UNKNOWN = "last", "star", "unknown"
_MOMENTS = (
    exp.DataType.Type.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPTZ,
    exp.DataType.Type.TIMESTAMPLTZ,
    exp.DataType.Type.TIMESTAMPNTZ,
)


class Provenance(StrEnum):
    """Whether the result rows of a query name their source file."""

    KEPT = "kept"
    #: They would, if the query also selected the column.
    LEFT_OUT = "left out"
    UNKNOWN = "unknown"


class _Cte(NamedTuple):
    """A common table expression, and those in scope of its query."""

    query: exp.Expr
    has_column_list: bool
    scope: _Scope


_Scope = Mapping[str, "_Cte"]


class _Wanted(NamedTuple):
    """The column of an input that is followed through a query."""

    dataset: str
    #: In lower case.
    column: str
    #: A time column: a cast to a timestamp does not count as a change.
    is_time: bool = False


class _Carried(NamedTuple):
    """A query whose result rows can name their source file."""

    #: SELECTs the column has to be added to, each with the name of the relation it comes from.
    missing_in: tuple[tuple[exp.Select, str], ...]
    position: int | str


def keeps_source_file(context: StageContext) -> bool:
    """Every result row of a stage names its source file in the first input."""
    if _options_change_it(context.stage.options, SOURCE_FILE):
        return False
    is_bronze = context.resolved.layer == "bronze"
    if context.resolved.sql is None:
        return is_bronze  # other layers drop the column
    sql, dialect = context.resolved.sql, context.resolved.dialect
    first = context.inputs[0].dataset_id
    query, _writes = query_of(statement_of(sql, dialect))
    found = provenance_of(query, first)
    if found is Provenance.LEFT_OUT and is_bronze:
        return not is_spark(dialect) or _is_added(sql, dialect, first)
    return found is Provenance.KEPT


def _is_added(sql: str, dialect: str | None, dataset: str) -> bool:
    """The column can be added to the text of the SQL."""
    from goldsmith.planning.spark_text import as_written, with_source_file

    return with_source_file(as_written(sql, dialect), dialect, dataset) is not None


def compares_files(context: StageContext) -> bool:
    """A row the stage keeps can depend on rows of other files that are read with its own."""
    if context.stage.options.get("deduplicate"):
        return True
    if context.resolved.sql is None:
        return False
    query, _writes = query_of(statement_of(context.resolved.sql, context.resolved.dialect))
    return any(
        isinstance(node, exp.Limit | exp.Fetch)
        or (isinstance(node, exp.Window) and not _is_within_a_file(node))
        for node in query.walk()
    )


def provenance_of(query: exp.Query, dataset: str) -> Provenance:
    """Whether the result rows of a query name their source file in an input."""
    found = _of_query(query, _Wanted(dataset, SOURCE_FILE), {})
    if found is None:
        return Provenance.UNKNOWN
    return Provenance.LEFT_OUT if found.missing_in else Provenance.KEPT


def keeps_time(context: StageContext, column: str) -> bool:
    """The stage passes a time column of its first input on unchanged, under the same name."""
    if _options_change_it(context.stage.options, column.lower(), but_same_time=True):
        return False
    if context.resolved.sql is None:
        return True
    query, _writes = query_of(statement_of(context.resolved.sql, context.resolved.dialect))
    wanted = _Wanted(context.inputs[0].dataset_id, column.lower(), is_time=True)
    found = _of_query(query, wanted, {})
    return found is not None and not found.missing_in


def select_source_file(query: exp.Query, dataset: str) -> bool:
    """Add `_source_file` to the query where it is missing and can be; True if it was added."""
    found = _of_query(query, _Wanted(dataset, SOURCE_FILE), {})
    if found is None or not found.missing_in:
        return False
    for select, relation in {id(pair[0]): pair for pair in found.missing_in}.values():
        select.select(_named(select, relation, dataset), copy=False)
    return True


def _named(select: exp.Select, relation: str, dataset: str) -> exp.Expr:
    """The column of a relation of a SELECT, by the whole id where the relation is the dataset."""
    sources = [select.args["from_"].this, *(join.this for join in select.args.get("joins") or [])]
    for source in sources:
        if isinstance(source, exp.Table) and not source.alias and table_name(source) == dataset:
            table, db, catalog = (source.args.get(part) for part in ("this", "db", "catalog"))
            return exp.column(SOURCE_FILE, table, db, catalog, copy=True)
    return exp.column(SOURCE_FILE, table=relation or None)


def _options_change_it(
    options: Mapping[str, object], column: str, *, but_same_time: bool = False
) -> bool:
    """A transform changes a column of that name, or with `but_same_time` its time."""
    for transform, value in transforms_of(options):
        try:
            changed = {name.lower() for name in transform.changes(value)}
            is_same_time = but_same_time and transform.keeps_time(value, column)
        except (AttributeError, TypeError):  # the value has a wrong type, which is a finding
            continue
        if column in changed and not is_same_time:
            return True
    return False


def _of_query(query: exp.Expr, wanted: _Wanted, scope: _Scope) -> _Carried | None:
    clause = query.args.get("with_")
    if isinstance(clause, exp.With):
        if clause.recursive:
            return None
        for cte in clause.expressions:
            made = _Cte(cte.this, bool(cte.alias_column_names), scope)
            scope = {**scope, cte.alias.lower(): made}
    match query:
        case exp.Subquery():
            return None if _is_bent(query) else _of_query(query.this, wanted, scope)
        case exp.SetOperation():
            return _of_set_operation(query, wanted, scope)
        case exp.Select():
            return _of_select(query, wanted, scope)
    return None


def _of_set_operation(query: exp.SetOperation, wanted: _Wanted, scope: _Scope) -> _Carried | None:
    left = _of_query(query.this, wanted, scope)
    drops_duplicates = query.args.get("distinct") is not False
    if left is None or (left.missing_in and drops_duplicates):
        return None
    if not isinstance(query, exp.Union):  # EXCEPT and INTERSECT give rows of the left side
        is_safe = not left.missing_in and not _reads(query.expression, wanted, scope)
        return left if is_safe else None
    right = _of_query(query.expression, wanted, scope)
    if right is None or (right.missing_in and drops_duplicates):
        return None
    is_aligned = left.position == right.position != _UNKNOWN
    if not is_aligned and not query.args.get("by_name"):
        return None
    return _Carried((*left.missing_in, *right.missing_in), left.position)


def _of_select(query: exp.Select, wanted: _Wanted, scope: _Scope) -> _Carried | None:
    if query.args.get("kind") or query.args.get("pivots"):
        return None
    found = _one_source(query, wanted, scope)
    if found is None:
        return None
    relation, carried, is_alone = found
    groups = query.args.get("group")
    if groups is not None and groups.find(exp.Cube, exp.Rollup, exp.GroupingSets):
        return None  # a subtotal belongs to no file
    merges_rows = bool(groups or query.args.get("distinct") or _aggregates(query))
    if carried.missing_in and (merges_rows or _has_inner_star(query) or _joins_by_names(query)):
        return None  # one more column would change the result
    positions: list[int | str] = []
    starred = False
    for index, column in enumerate(query.expressions):
        if column.is_star:
            match _star_has_it(column, relation, wanted):
                case None:
                    return None
                case True:
                    alone = is_alone and len(query.expressions) == 1
                    positions.append(carried.position if alone else _UNKNOWN)
            starred = True
        elif column.alias_or_name.lower() == wanted.column:
            if not _is_its_column(column.unalias(), relation, wanted):
                return None
            positions.append(_UNKNOWN if starred else index)
    if len(positions) > 1:
        return None
    if positions:
        return _Carried(carried.missing_in, positions[0])
    if merges_rows:
        return None
    position = _UNKNOWN if starred and not is_alone else _LAST
    return _Carried((*carried.missing_in, (query, relation)), position)


def _one_source(
    query: exp.Select, wanted: _Wanted, scope: _Scope
) -> tuple[str, _Carried, bool] | None:
    """The only relation of FROM and JOIN that carries the column, if a join cannot make it NULL.

    Returns its name, what it carries, and whether it is the only relation of the query.
    """
    from_ = query.args.get("from_")
    if from_ is None:
        return None
    carrying: list[tuple[str, _Carried]] = []
    may_be_null = False
    joins = query.args.get("joins") or []
    for join in (None, *joins):
        source = from_.this if join is None else join.this
        side = "" if join is None else str(join.side).upper()
        if side in ("RIGHT", "FULL"):
            may_be_null = may_be_null or bool(carrying)
        carried = _of_source(source, wanted, scope)
        if carried is None:
            if _reads(source, wanted, scope):
                return None
            continue
        if join is not None and (side in ("LEFT", "FULL") or join.kind in ("SEMI", "ANTI")):
            return None
        carrying.append((source.alias_or_name, carried))
    if len(carrying) != 1 or may_be_null:
        return None
    rest = [node for key, node in _parts(query) if key not in ("from_", "joins", "with_")]
    rest += [node for join in joins for key, node in _parts(join) if key != "this"]
    if any(_reads(node, wanted, scope) for node in rest):
        return None
    name, carried = carrying[0]
    return name, carried, not joins and not query.args.get("laterals")


def _of_source(source: exp.Expr, wanted: _Wanted, scope: _Scope) -> _Carried | None:
    """How a relation of FROM or JOIN carries the column."""
    if _is_bent(source):
        return None
    if isinstance(source, exp.Subquery):
        return _of_query(source, wanted, scope)
    if not isinstance(source, exp.Table):
        return None
    cte = _cte(source, scope)
    if cte is not None:
        return None if cte.has_column_list else _of_query(cte.query, wanted, cte.scope)
    return _Carried((), _STAR) if table_name(source) == wanted.dataset else None


def _is_bent(source: exp.Expr) -> bool:
    """The relation renames its columns, is pivoted, or is joined in parentheses."""
    alias = source.args.get("alias")
    renamed = isinstance(alias, exp.TableAlias) and bool(alias.columns)
    return renamed or bool(source.args.get("pivots") or source.args.get("joins"))


def _cte(table: exp.Table, scope: _Scope) -> _Cte | None:
    return None if table.args.get("db") else scope.get(table.name.lower())


def _reads(node: exp.Expr, wanted: _Wanted, scope: _Scope) -> bool:
    """A relation below the node reads the dataset, directly or through a CTE."""
    inner = dict(scope)
    for clause in node.find_all(exp.With):
        for cte in clause.expressions:
            inner[cte.alias.lower()] = _Cte(cte.this, False, scope)
    for table in node.find_all(exp.Table):
        if table_name(table) == wanted.dataset:
            return True
        cte = _cte(table, inner)
        if cte is not None and cte.query is not node and _reads(cte.query, wanted, cte.scope):
            return True
    return False


def _parts(node: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    for key, value in node.args.items():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, exp.Expr):
                yield key, part


def _own(query: exp.Select) -> Iterator[exp.Expr]:
    """The nodes of the columns and of HAVING, without the nodes inside subqueries."""
    having = query.args.get("having")
    for root in (*query.expressions, *([having] if having is not None else [])):
        yield from root.walk(prune=lambda node: isinstance(node, exp.Query))


def _is_within_a_file(window: exp.Window) -> bool:
    parts = window.args.get("partition_by") or []
    return any(isinstance(part, exp.Column) and part.name.lower() == SOURCE_FILE for part in parts)


def _aggregates(query: exp.Select) -> bool:
    return any(
        isinstance(node, exp.AggFunc) and not isinstance(node.parent, exp.Window)
        for node in _own(query)
    )


def _has_inner_star(query: exp.Select) -> bool:
    """A star inside an expression, as in `to_json(struct(*))`."""
    return any(
        not isinstance(star.parent, exp.Count)
        for key, part in _parts(query)
        if key not in ("from_", "joins", "with_") and not part.is_star
        for star in part.find_all(exp.Star)
    )


def _joins_by_names(query: exp.Select) -> bool:
    return any(str(join.method).upper() == "NATURAL" for join in query.args.get("joins") or [])


def _star_has_it(column: exp.Expr, relation: str, wanted: _Wanted) -> bool | None:
    """Whether a star includes the column of the relation; None where it replaces or renames."""
    star = column.find(exp.Star)
    assert star is not None
    if star.args.get("replace") or star.args.get("rename"):
        return None
    if isinstance(column, exp.Column) and not _is_of(column, relation, wanted):
        return False
    left_out = star.args.get("except_") or star.args.get("except") or []
    return wanted.column not in {excepted.name.lower() for excepted in left_out}


def _is_its_column(column: exp.Expr, relation: str, wanted: _Wanted) -> bool:
    if wanted.is_time and isinstance(column, exp.Cast) and column.to.this in _MOMENTS:
        column = column.this
    if not isinstance(column, exp.Column) or column.name.lower() != wanted.column:
        return False
    return _is_of(column, relation, wanted)


def _is_of(column: exp.Column, relation: str, wanted: _Wanted) -> bool:
    """The column, as it is qualified, can be one of the relation."""
    qualifiers = [part.name for part in column.parts[:-1]]
    if len(qualifiers) > 1:  # `bronze.orders.id` is no column of `silver.orders`
        return ".".join(qualifiers) == wanted.dataset
    return not qualifiers or qualifiers[0].lower() == relation.lower()
