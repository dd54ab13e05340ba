"""Statements as trees: which table each writes, and from which columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from goldsmith.digest import merges
from goldsmith.digest.expressions import sources_of, value_of
from goldsmith.digest.locations import function_locations, property_locations
from goldsmith.digest.relation import STAR, OutColumn, Relation
from goldsmith.digest.relations import Ctes, relation_of
from goldsmith.digest.scope import Scope
from goldsmith.digest.values import ColumnEdge, StatementDigest

if TYPE_CHECKING:
    from goldsmith.digest.reading import StatementReading


class Written:
    """What one tree gives: the digest, and the relation of a created table."""

    __slots__ = ("digest", "relation", "shape", "target")

    def __init__(self, digest: StatementDigest) -> None:
        self.digest = digest
        self.target: str | None = None
        self.relation: Relation | None = None
        #: Columns a CREATE TABLE declares, with their types.
        self.shape: dict[str, str] | None = None


def read_tree(tree: exp.Expr, reading: StatementReading) -> Written | None:
    """What a statement does; None for a kind of statement that trees do not answer."""
    done = Written(StatementDigest(moves_data=True))
    if isinstance(tree, exp.Query | exp.Values | exp.Pivot):
        _query(tree, reading, done)
    elif isinstance(tree, exp.Create):
        if not _create(tree, reading, done):
            return None
    elif isinstance(tree, exp.Insert):
        _insert(tree, reading, done)
    elif isinstance(tree, exp.MultitableInserts):
        _many_inserts(tree, reading, done)
    elif isinstance(tree, exp.Merge):
        done.digest.verb, done.digest.write = "MERGE", "merge"
        done.target = merges.merge(tree, reading, done.digest)
    elif isinstance(tree, exp.Update):
        done.digest.verb, done.digest.write = "UPDATE", "update"
        done.target = merges.update(tree, reading, done.digest)
    elif isinstance(tree, exp.Delete):
        done.digest.verb, done.digest.write = "DELETE", "delete"
        done.target = merges.delete(tree, reading, done.digest)
    elif isinstance(tree, exp.Cache):
        if not isinstance(tree.expression, exp.Query) or not isinstance(tree.this, exp.Table):
            return Written(StatementDigest(verb="CACHE"))
        done.digest.verb, done.digest.write, done.digest.temporary = "CACHE", "view", True
        done.target = reading.naming.of_table(tree.this)
        done.relation = relation_of(tree.expression, reading)
        done.digest.columns = edges_of(done.relation, done.target, reading)
    else:
        return None
    _finish(reading, done)
    return done


def _finish(reading: StatementReading, done: Written) -> None:
    digest = done.digest
    digest.upstream = list(reading.reads)
    digest.mentioned = [name for name in reading.mentioned if name not in reading.reads]
    if done.target and done.target not in digest.downstream:
        digest.downstream.append(done.target)
    digest.downstream += [name for name in reading.writes if name not in digest.downstream]
    if not digest.edges:
        digest.edges = [(up, down) for down in digest.downstream for up in digest.upstream]
    digest.indirect = {kind: list(roots) for kind, roots in reading.indirect.items() if roots}
    digest.rules += reading.rules
    digest.aggregates, digest.joins = reading.aggregates, reading.joins


def _query(tree: exp.Expr, reading: StatementReading, done: Written) -> None:
    done.digest.verb = "SELECT"
    into = _into(tree)
    if into is not None:
        tree.args["into"] = None
        done.digest.verb, done.digest.write = "SELECT INTO", "overwrite"
    relation = relation_of(tree, reading)
    if into is None:
        done.digest.columns = edges_of(relation, None, reading)
        return
    if isinstance(into, exp.Table):
        done.target = reading.naming.of_table(into)
        done.relation = relation
        done.digest.temporary = done.target.startswith("#") or bool(into.meta.get("temporary"))
        done.digest.columns = edges_of(relation, done.target, reading)


def _into(tree: exp.Expr) -> exp.Expr | None:
    """The table of SELECT … INTO, also in the first branch of a set operation."""
    node: exp.Expr | None = tree
    while isinstance(node, exp.SetOperation | exp.Subquery):
        node = node.this
    into = node.args.get("into") if isinstance(node, exp.Select) else None
    if isinstance(into, exp.Into) and node is not None:
        node.set("into", None)
        found = into.this
        if isinstance(found, exp.Table) and (into.args.get("temporary")):
            found.meta["temporary"] = True
        return found if isinstance(found, exp.Table) else None
    return None


def edges_of(
    relation: Relation,
    target: str | None,
    reading: StatementReading,
    names: list[str] | None = None,
) -> list[ColumnEdge]:
    """The columns of a relation as written to a table, by position where names are given."""
    columns = relation.columns
    if names is not None:
        columns = (
            relation.with_names(names).columns[: len(names)] if columns or relation.through else []
        )
    dialect = reading.dialect
    return [
        ColumnEdge(
            target,
            column.name,
            column.sources,
            _text(column.expression, dialect),
            column.type,
            column.ambiguous,
        )
        for column in columns
    ]


def _text(expression: exp.Expr | None, dialect: str) -> object:
    """The expression and its dialect: printing is slow, so it waits until the text is wanted."""
    return None if expression is None else (expression, dialect)


def _create(tree: exp.Create, reading: StatementReading, done: Written) -> bool:
    kind = str(tree.args.get("kind") or "").upper()
    if kind not in (
        "TABLE",
        "VIEW",
        "MATERIALIZED VIEW",
        "DYNAMIC TABLE",
        "STREAMING TABLE",
        "MODEL",
    ):
        return False
    named = tree.this
    schema = named if isinstance(named, exp.Schema) else None
    table = schema.this if schema is not None else named
    if not isinstance(table, exp.Table):
        return False
    digest = done.digest
    done.target = _target_name(table, reading)
    digest.verb = f"CREATE {kind}"
    digest.write = "view" if "VIEW" in kind else "overwrite"
    properties = tree.args.get("properties")
    found = list(properties.expressions) if properties is not None else []
    digest.temporary = done.target.startswith("#") or any(
        isinstance(prop, exp.TemporaryProperty | exp.GlobalProperty | exp.VolatileProperty)
        for prop in found
    )
    names = [_defined(column) for column in schema.expressions] if schema is not None else []
    declared = {
        column.name.lower(): column.args["kind"].sql().lower() if column.args.get("kind") else ""
        for column in (schema.expressions if schema is not None else ())
        if isinstance(column, exp.ColumnDef)
    }
    clone = tree.args.get("clone")
    like = next((prop for prop in found if isinstance(prop, exp.LikeProperty)), None)
    for part in schema.expressions if schema is not None else ():
        like = part if isinstance(part, exp.LikeProperty) else like
    to_table = next((p for p in found if isinstance(p, exp.ToTableProperty)), None)
    query = tree.expression
    if isinstance(query, exp.Query | exp.Values | exp.Table):
        _create_as(query, tree, reading, done, [name for name in names if name], declared)
    elif clone is not None and isinstance(clone.this, exp.Table):
        _copy_of(clone.this, reading, done)
    elif like is not None and isinstance(like.this, exp.Table):
        _copy_of(like.this, reading, done, structure=True)
    else:
        digest.moves_data = False
        digest.write = None
        done.shape = declared or None
        reading.reads.update(dict.fromkeys(property_locations(found)))
    digest.types = {done.target: declared} if declared else {}
    if to_table is not None and isinstance(to_table.this, exp.Table):
        view, done.target = done.target, reading.naming.of_table(to_table.this)
        digest.downstream = [done.target]
        digest.columns = edges_of(done.relation or Relation([]), done.target, reading)
        del view
    return True


def _target_name(table: exp.Table, reading: StatementReading) -> str:
    inner = table.this
    if isinstance(inner, exp.Func):
        literal = inner.find(exp.Literal)
        if literal is not None and literal.is_string:
            return reading.naming.full([(part, False) for part in literal.this.split(".")])
        variable = inner.find(exp.Column, exp.Parameter, exp.Placeholder, exp.Identifier)
        if isinstance(variable, exp.Column):
            return reading.naming.full(
                [(p.name, bool(p.args.get("quoted"))) for p in variable.parts]
            )
    return reading.naming.of_table(table)


def _create_as(
    query: exp.Expr,
    tree: exp.Create,
    reading: StatementReading,
    done: Written,
    names: list[str],
    declared: dict[str, str],
) -> None:
    ctes = Ctes()
    clause = tree.args.get("with_")
    if isinstance(clause, exp.With):
        ctes = ctes.declare(clause)
    relation = relation_of(query, reading, ctes)
    if names:
        relation = relation.with_names(names)
    done.relation = relation
    for column in relation.columns:
        column.type = declared.get(column.name.lower()) or column.type
    done.digest.columns = edges_of(relation, done.target, reading)
    done.digest.filled_by = query


def _copy_of(
    source: exp.Table, reading: StatementReading, done: Written, *, structure: bool = False
) -> None:
    relation = reading.table(reading.naming.of_table(source))
    done.relation = relation
    done.digest.structure_only = structure
    if not structure:
        done.digest.columns = edges_of(relation, done.target, reading)
    else:
        done.digest.moves_data = False
        done.digest.write = None


def _defined(column: exp.Expr) -> str:
    if isinstance(column, exp.ColumnDef | exp.Identifier | exp.Column):
        identifier = column.this if not isinstance(column, exp.Identifier) else column
        quoted = isinstance(identifier, exp.Identifier) and identifier.args.get("quoted")
        return str(column.name) if quoted else str(column.name).lower()
    return ""


def _insert(
    tree: exp.Insert, reading: StatementReading, done: Written, ctes: Ctes | None = None
) -> None:
    digest = done.digest
    digest.verb = "INSERT OVERWRITE" if tree.args.get("overwrite") else "INSERT"
    digest.write = "overwrite" if tree.args.get("overwrite") else "append"
    ctes = ctes or Ctes()
    clause = tree.args.get("with_")
    if isinstance(clause, exp.With):
        ctes = ctes.declare(clause)
    named = tree.this
    names: list[str] = []
    if isinstance(named, exp.Schema):
        names = [name for name in map(_defined, named.expressions) if name]
        literal = named.expressions[0] if named.expressions else None
        named = named.this
        if isinstance(literal, exp.Literal) and named.name.lower() == "identifier":
            parts = [exp.to_identifier(part) for part in literal.this.split(".")]
            named = exp.Table(**dict(zip(("this", "db", "catalog"), parts[::-1], strict=False)))
    if isinstance(named, exp.Directory):
        done.target = str(
            named.this.this if isinstance(named.this, exp.Literal) else named.this.sql()
        )
    elif isinstance(named, exp.Table):
        done.target = _target_name(named, reading)
    elif tree.args.get("is_function") and named is not None:
        files = function_locations(named, named.name.lower(), reading.dialect)
        done.target = files[0] if files else named.name.lower()
    elif named is not None:
        done.target = reading.naming.full([(named.name or named.sql(), False)])
    # `INSERT INTO t TABLE s` keeps its table apart from queries.
    source = tree.expression or tree.args.get("source")
    if not isinstance(source, exp.Expr):
        return
    relation = relation_of(source, reading, ctes)
    digest.columns = insert_columns(relation, tree, done.target, names, reading)
    digest.filled_by = source


def insert_columns(
    relation: Relation,
    tree: exp.Insert,
    target: str | None,
    names: list[str],
    reading: StatementReading,
) -> list[ColumnEdge]:
    """The written columns by the target's rules: a list, its shape, or the query's names."""
    if isinstance(tree.expression, exp.Values):
        # Literals have no sources: only cells that hold a subquery are written from somewhere.
        known = names or list(reading.shapes.get((target or "").lower()) or ())
        return [e for e in edges_of(relation, target, reading, known or None) if e.sources]
    fixed = _fixed_partitions(tree)
    if names and not tree.args.get("by_name"):
        if any(column.name == STAR for column in relation.columns):
            return _past_star(relation, names, target, reading)
        return edges_of(relation, target, reading, names)
    shape = reading.shapes.get((target or "").lower())
    if shape and not tree.args.get("by_name") and all(c.name != STAR for c in relation.columns):
        known = [name for name in shape if name.lower() not in fixed]
        if len(known) >= len(relation.columns):
            return edges_of(relation, target, reading, known[: len(relation.columns)])
    return edges_of(relation, target, reading)


def _past_star(
    relation: Relation, names: list[str], target: str | None, reading: StatementReading
) -> list[ColumnEdge]:
    """A column list over a star of unknown width: a name the star can own is matched by name."""
    if len(relation.open) == 1 and len(relation.columns) == 1:
        found = [relation.find(name) or OutColumn(name, {}) for name in names]
        return edges_of(Relation(found), target, reading)
    columns = relation.columns
    stars = [index for index, column in enumerate(columns) if column.name == STAR]
    if len(stars) == 1 and len(relation.open) == 1:
        at, behind = stars[0], len(columns) - stars[0] - 1
        middle = names[at : len(names) - behind]
        found = [c.renamed(n) for c, n in zip(columns[:at], names, strict=False)]
        found += [relation.find(name) or OutColumn(name, {}) for name in middle]
        if behind:
            found += [
                c.renamed(n) for c, n in zip(columns[at + 1 :], names[-behind:], strict=False)
            ]
        return edges_of(Relation(found), target, reading)
    return edges_of(relation, target, reading)


def _fixed_partitions(tree: exp.Insert) -> set[str]:
    """Partition columns given a value in the statement: the query does not deliver them."""
    table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    partition = tree.args.get("partition") or (table.args.get("partition") if table else None)
    if not isinstance(partition, exp.Partition):
        return set()
    return {
        equal.this.name.lower()
        for equal in partition.find_all(exp.EQ)
        if isinstance(equal.this, exp.Column | exp.Identifier)
    }


def _many_inserts(tree: exp.MultitableInserts, reading: StatementReading, done: Written) -> None:
    """Snowflake's and Oracle's INSERT ALL / FIRST."""
    digest = done.digest
    digest.verb, digest.write = "INSERT", "append"
    source = tree.args.get("source")
    relation = relation_of(source, reading) if source is not None else Relation([])
    scope = Scope()
    scope.add("", "", relation)
    ctes = Ctes()
    for conditional in tree.expressions:
        insert = conditional.this if isinstance(conditional, exp.ConditionalInsert) else conditional
        if not isinstance(insert, exp.Insert):
            continue
        named, names = insert.this, list[str]()
        if isinstance(named, exp.Schema):
            names = [_defined(column) for column in named.expressions]
            named = named.this
        target = reading.naming.of_table(named)
        digest.downstream.append(target)
        cells = insert.expression
        if isinstance(cells, exp.Values) and cells.expressions:
            row = cells.expressions[0]
            values = row.expressions if isinstance(row, exp.Tuple) else [row]
            names = names or [_defined(v) or v.sql().lower() for v in values]
            for name, value in zip(names, values, strict=False):
                found = value_of(value, scope, reading, ctes)
                digest.columns.append(ColumnEdge(target, name, found.sources))
        else:
            digest.columns += edges_of(relation, target, reading, names or None)
        if isinstance(conditional, exp.ConditionalInsert) and conditional.expression is not None:
            reading.use("filter", sources_of(conditional.expression, scope, reading, ctes))
    digest.downstream = list(dict.fromkeys(digest.downstream))
