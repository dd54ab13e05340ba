"""Parse a stage's SQL: which datasets it reads, what it writes, and what kind of query it is.

sqlglot is used for grammar and trees only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlglot import exp

_VOLATILE_NAMES = frozenset(
    (
        *("now", "current_date", "current_timestamp", "current_time", "localtimestamp"),
        *("sysdate", "getdate", "curdate", "unix_timestamp"),
        *("rand", "random", "randn", "uuid", "shuffle"),
    )
)
#: Aggregates of Spark that sqlglot parses as functions it does not know.
_AGGREGATE_NAMES = frozenset(
    (
        *("every", "some", "mean", "measure", "std", "try_avg", "try_sum", "histogram_numeric"),
        *("bitmap_and_agg", "bitmap_or_agg", "count_min_sketch", "schema_of_variant_agg"),
        *("hll_sketch_agg", "hll_union_agg", "theta_sketch_agg", "theta_union_agg"),
        *("theta_intersection_agg", "kll_sketch_agg_bigint", "kll_sketch_agg_double"),
        *("kll_sketch_agg_float", "kll_merge_agg_bigint", "kll_merge_agg_double"),
        "kll_merge_agg_float",
    )
)


class QueryFacts(NamedTuple):
    """What planning needs to know about a SQL text."""

    #: Why the SQL cannot be run; only `line` and `hint` are set with it.
    error: str | None = None
    line: int | None = None
    #: The tables it reads, as written, in order of appearance.
    reads: tuple[str, ...] = ()
    #: The table of an INSERT or CREATE TABLE … AS.
    writes: str | None = None
    #: The statement replaces everything in that table.
    overwrites: bool = False
    #: GROUP BY, DISTINCT or an aggregate: wrong over an input read in parts.
    aggregates: bool = False
    windows: bool = False
    #: Functions that return the time or a random value.
    volatile: tuple[str, ...] = ()
    #: The result columns; None where a star hides them.
    columns: tuple[str, ...] | None = None
    #: Tables it must read whole, and the reason of each, at the same index.
    whole: tuple[str, ...] = ()
    whole_because: tuple[str, ...] = ()
    #: Tables it reads, while some result rows (a UNION branch) do not depend on them.
    beside: tuple[str, ...] = ()
    #: What to write instead, if the error is that the SQL cannot be translated to Spark.
    hint: str | None = None


def parse(text: str, dialect: str | None) -> QueryFacts:
    """Parse a SQL text into its facts."""
    from sqlglot import errors, exp

    from goldsmith.planning.clauses import refuse_inside
    from goldsmith.planning.dialects import NotTranslated
    from goldsmith.planning.partial import use_of
    from goldsmith.planning.spark_text import as_written

    try:
        statement = statement_of(text, dialect)
        query, writes = query_of(statement)
        refuse_inside(query, dialect)
        if is_spark(dialect):
            as_written(text, dialect)
        else:
            printed(query, dialect)
        reads = dict.fromkeys(table_name(table) for table in tables_read(query))
        uses = {name: use_of(query, name) for name in reads}
    except errors.ParseError as error:
        detail = error.errors[0] if error.errors else {}
        message = str(detail.get("description") or error).splitlines()[0]
        excerpt = detail.get("highlight")
        return QueryFacts(
            error=f"{message.rstrip('.')}{f' near {excerpt!r}' if excerpt else ''}",
            line=detail.get("line", 1),
        )
    except errors.SqlglotError as error:
        return QueryFacts(error=str(error).splitlines()[0], line=1)
    except NotTranslated as error:
        return QueryFacts(error=str(error), line=error.line, hint=error.hint)
    except ValueError as error:
        return QueryFacts(error=str(error), line=1)
    except RecursionError:
        return QueryFacts(error="it is nested too deeply to be parsed", line=1)
    named = query.named_selects
    hidden = query.is_star or len(named) != len(query.selects) or "" in named
    return QueryFacts(
        reads=tuple(reads),
        writes=writes,
        overwrites=bool(statement.args.get("overwrite") or statement.args.get("replace")),
        aggregates=_aggregates(query),
        windows=query.find(exp.Window) is not None,
        volatile=tuple(dict.fromkeys(_volatile(query))),
        columns=None if hidden else tuple(named),
        whole=tuple(name for name, use in uses.items() if use.why),
        whole_because=tuple(use.why for use in uses.values() if use.why),
        beside=tuple(name for name, use in uses.items() if use.again),
    )


def statement_of(text: str, dialect: str | None) -> exp.Expression:
    import sqlglot
    from sqlglot import exp

    parsed = sqlglot.parse(text, read=dialect or "spark")
    # A comment after the last semicolon is a statement to sqlglot.
    statements = [
        statement for statement in parsed if statement and not isinstance(statement, exp.Semicolon)
    ]
    if len(statements) != 1:
        raise ValueError(f"it holds {len(statements)} statements, and a stage runs one")
    return statements[0]  # type: ignore[return-value]


def query_of(statement: exp.Expression) -> tuple[exp.Query, str | None]:
    """The SELECT of a statement, and the table the statement would write, if any.

    Raises ValueError for a clause around the SELECT that a stage would ignore.
    """
    from goldsmith.planning.clauses import names_of_list

    query, table = select_of(statement)
    if table is None:
        return query, None
    return _as_listed(query, names_of_list(statement.this)), table_name(table)


def select_of(statement: exp.Expr) -> tuple[exp.Query, exp.Table | None]:
    """The SELECT of a statement without its column list, and the table it would write."""
    from sqlglot import exp

    from goldsmith.planning.clauses import refuse_around

    if isinstance(statement, exp.Create | exp.Insert):
        inner = statement.expression
        written = statement.this
        table = written.this if isinstance(written, exp.Schema) else written
        if isinstance(inner, exp.Query) and isinstance(table, exp.Table):
            refuse_around(statement)
            outer = statement.args.get("with_")
            query = _bare(inner)
            assert isinstance(query, exp.Query)
            if outer is not None:
                if query.ctes:
                    raise ValueError(f"it has a WITH before and after {statement.key.upper()}")
                query.set("with_", outer)
            return query, table
    query = _bare(statement)
    if isinstance(query, exp.Create | exp.Insert) and query is not statement:
        return select_of(query)
    if isinstance(query, exp.Query):
        return query, None
    raise ValueError(f"it is a {statement.key.upper()}, and a stage runs a SELECT")


def _bare(query: exp.Expr) -> exp.Expr:
    """The query without parentheses around it."""
    from sqlglot import exp

    while isinstance(query, exp.Subquery) and not any(
        value for key, value in query.args.items() if key != "this"
    ):
        query = query.this
    return query


def _as_listed(query: exp.Query, names: tuple[str, ...]) -> exp.Query:
    """Rename the query's columns, by position, to the column list of the INSERT."""
    from sqlglot import exp

    if not renames(query, names):
        return query
    columns = [exp.to_identifier(name, quoted=True) for name in names]
    alias = exp.TableAlias(this=exp.to_identifier("listed"), columns=columns)
    subquery = exp.Subquery(this=query, alias=alias)
    return exp.select(*(exp.column(name.copy()) for name in columns)).from_(subquery, copy=False)


def renames(query: exp.Query, names: tuple[str, ...]) -> bool:
    """The column list of an INSERT names the columns otherwise than the query."""
    given = [name.lower() for name in query.named_selects]
    return bool(names) and (query.is_star or given != [name.lower() for name in names])


def tables_read(query: exp.Query) -> Iterator[exp.Table]:
    """Every table that is not a common table expression of the query itself."""
    from sqlglot import exp

    for table in query.find_all(exp.Table, bfs=False):
        if not isinstance(table.this, exp.Identifier) or _is_cte(table):
            continue
        # A hint (`/*+ BROADCAST(d) */`) names a table the query reads anyway, by its alias.
        if table.find_ancestor(exp.Hint) is None:
            yield table


def _is_cte(table: exp.Table) -> bool:
    from sqlglot import exp

    if table.args.get("db"):
        return False
    name = table.name.lower()
    inside: exp.Expr = table
    node = table.parent
    while node is not None:
        clause = node if isinstance(node, exp.With) else node.args.get("with_")
        if isinstance(clause, exp.With) and inside is not clause:
            for cte in clause.expressions:
                if cte is inside and not clause.recursive:
                    break  # a CTE's query does not see the CTE itself or later ones
                if cte.alias.lower() == name:
                    return True
                if cte is inside:
                    break
        inside, node = node, node.parent
    return False


def table_name(table: exp.Table) -> str:
    return ".".join(part.name for part in table.parts)


def _aggregates(query: exp.Query) -> bool:
    from sqlglot import exp

    if query.find(exp.Group, exp.Having, exp.Distinct, exp.Limit, exp.Offset, exp.Fetch):
        return True
    if any(union.args.get("distinct") is not False for union in query.find_all(exp.SetOperation)):
        return True  # UNION, INTERSECT and EXCEPT drop duplicates
    found = query.find_all(exp.AggFunc, exp.Anonymous, exp.Any)
    return any(_is_aggregate(function) and not _has_window(function) for function in found)


def _is_aggregate(function: exp.Expr) -> bool:
    from sqlglot import exp

    if isinstance(function, exp.Anonymous):
        known = exp.FUNCTION_BY_NAME.get(function.name.upper())
        return function.name.lower() in _AGGREGATE_NAMES or (
            known is not None and issubclass(known, exp.AggFunc)
        )
    # `any(x)`, in contrast to `x = ANY (…)` and `x LIKE ANY (…)`.
    return not isinstance(function, exp.Any) or not isinstance(function.parent, exp.Binary)


def _has_window(function: exp.Expr) -> bool:
    from sqlglot import exp

    parent = function.parent
    while isinstance(parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls | exp.WithinGroup):
        parent = parent.parent
    return isinstance(parent, exp.Window)


def _volatile(query: exp.Query) -> Iterator[str]:
    from sqlglot import exp

    if query.find(exp.TableSample):
        yield "tablesample"
    for function in query.find_all(exp.Func):
        name = function.name if isinstance(function, exp.Anonymous) else function.sql_name()
        if name.lower() in _VOLATILE_NAMES and not (
            name.lower() == "unix_timestamp" and function.args.get("this")
        ):
            yield name.lower()


def is_spark(dialect: str | None) -> bool:
    """SQL of the dialect is run as it was written; what Spark does not know, it refuses."""
    return dialect in (None, "", "spark", "spark2", "databricks")


def printed(query: exp.Query, dialect: str | None) -> str:
    """The query of another dialect as Spark SQL; raises where it cannot be translated."""
    from sqlglot import ErrorLevel

    from goldsmith.planning.dialects import translate

    return translate(query, dialect).sql("spark", pretty=True, unsupported_level=ErrorLevel.RAISE)
