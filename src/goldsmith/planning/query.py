"""A stage's SQL: which datasets it reads, what it writes, and what kind of query it is.

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


class QueryFacts(NamedTuple):
    """What a text says, as far as planning needs to know."""

    #: Why it cannot be run; everything else is empty then.
    error: str | None = None
    line: int | None = None
    #: Tables it reads, as written, in order of appearance.
    reads: tuple[str, ...] = ()
    #: The table an INSERT or CREATE TABLE … AS in it names.
    writes: str | None = None
    #: GROUP BY, DISTINCT or an aggregate: wrong over an input read in parts.
    aggregates: bool = False
    windows: bool = False
    #: Functions that ask for the time or for chance.
    volatile: tuple[str, ...] = ()
    #: The columns it gives, where no star hides them.
    columns: tuple[str, ...] | None = None


def parse(text: str, dialect: str | None) -> QueryFacts:
    """The facts of a text, by parsing it."""
    from sqlglot import errors, exp

    try:
        statement = statement_of(text, dialect)
        query, writes = query_of(statement)
    except errors.ParseError as error:
        detail = error.errors[0] if error.errors else {}
        said = str(detail.get("description") or error).splitlines()[0]
        near = detail.get("highlight")
        return QueryFacts(
            error=f"{said.rstrip('.')}{f' near {near!r}' if near else ''}",
            line=detail.get("line", 1),
        )
    except errors.SqlglotError as error:
        return QueryFacts(error=str(error).splitlines()[0], line=1)
    except ValueError as error:
        return QueryFacts(error=str(error), line=1)
    except RecursionError:
        return QueryFacts(error="it is nested too deeply to be parsed", line=1)
    reads = dict.fromkeys(table_name(table) for table in tables_read(query))
    named = query.named_selects
    hidden = query.is_star or len(named) != len(query.selects) or "" in named
    return QueryFacts(
        reads=tuple(reads),
        writes=writes,
        aggregates=_aggregates(query),
        windows=query.find(exp.Window) is not None,
        volatile=tuple(dict.fromkeys(_volatile(query))),
        columns=None if hidden else tuple(named),
    )


def statement_of(text: str, dialect: str | None) -> exp.Expression:
    import sqlglot

    statements = [found for found in sqlglot.parse(text, read=dialect or "spark") if found]
    if len(statements) != 1:
        raise ValueError(f"it holds {len(statements)} statements, and a stage runs one")
    return statements[0]  # type: ignore[return-value]


def query_of(statement: exp.Expression) -> tuple[exp.Query, str | None]:
    """The SELECT of a statement, and the table it would write on its own."""
    from sqlglot import exp

    if isinstance(statement, exp.Create | exp.Insert):
        inner = statement.expression
        written = statement.this
        table = written.this if isinstance(written, exp.Schema) else written
        if isinstance(inner, exp.Query) and isinstance(table, exp.Table):
            outer = statement.args.get("with_") or statement.args.get("with")
            if outer is not None and not inner.ctes:
                inner.set("with_", outer)
            return inner, table_name(table)
    if isinstance(statement, exp.Subquery):
        statement = statement.unnest()  # type: ignore[assignment]
    if isinstance(statement, exp.Query):
        return statement, None
    raise ValueError(f"it is a {statement.key.upper()}, and a stage runs a SELECT")


def tables_read(query: exp.Query) -> Iterator[exp.Table]:
    """Every table that is not a common table expression of the query itself."""
    from sqlglot import exp

    for table in query.find_all(exp.Table, bfs=False):
        if not isinstance(table.this, exp.Identifier) or _is_cte(table):
            continue
        # A hint (`/*+ BROADCAST(d) */`) names what the query reads anyway, by its alias.
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
                    break  # it and the ones after it are not in scope of its own query
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

    if query.find(exp.Group, exp.Distinct):
        return True
    if any(union.args.get("distinct") is not False for union in query.find_all(exp.SetOperation)):
        return True  # UNION, INTERSECT and EXCEPT drop duplicates
    return any(
        not isinstance(aggregate.parent, exp.Window) for aggregate in query.find_all(exp.AggFunc)
    )


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


def as_spark(text: str, dialect: str | None) -> str:
    """The query as Spark will run it."""
    if dialect in (None, "", "spark"):
        query, writes = query_of(statement_of(text, dialect))
        # The text as it was written is easier to recognise in an error than our printing of it.
        return text.strip().rstrip(";") if writes is None else query.sql("spark", pretty=True)
    return query_of(statement_of(text, dialect))[0].sql("spark", pretty=True)
