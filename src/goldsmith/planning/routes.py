"""Routes: run a stage with another input in place of its source, along a lineage edge.

The transform of an edge is its transformation_sql, else the stage its transform_name names, else
the target's own stage with this input in place of its source. Checks, keys and write mode are
always those of the target's own stage.
"""

from __future__ import annotations

from goldsmith.catalog.edges import Edge
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.write_modes import WRITE_MODES, Replaces
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.resolved_stage import resolve_stage, stage_id
from goldsmith.planning.stage_context import Datasets, StageContext


def writer_of(index: CatalogIndex, dataset_id: str) -> StageContext | None:
    """The first enabled stage that writes a dataset."""
    for stage in index.rows.writers_of.get(dataset_id, ()):
        if stage.enabled:
            return index.stages.get(stage_id(stage))
    return None


def route_context(index: CatalogIndex, edge: Edge) -> StageContext | None:
    """The target's stage, reading this edge's dataset; None if the edge resolves to nothing."""
    own = writer_of(index, edge.to_dataset_id)
    if own is None or not index.rows.has_dataset(edge.from_dataset_id):
        return None
    sql, dialect = edge.transformation_sql, own.resolved.dialect
    if sql is None:
        model = _named(index, edge.transform_name) or own
        sql, dialect = model.resolved.sql, model.resolved.dialect
        if sql is not None and model.stage.source_id is not None:
            sql = _reading(sql, dialect, model.stage.source_id, edge.from_dataset_id)
            if sql is None:
                return None
    stage = own.stage.with_(
        source_id=edge.from_dataset_id, transform_sql=sql, transform_dialect=dialect
    )
    rows = index.rows
    context = StageContext(stage, rows, index.reader, Datasets(rows))
    # The edge of (source, target) must not give its SQL to a stage that passes rows on.
    context.resolved = resolve_stage(stage, None)
    return context.with_route((edge.from_dataset_id, edge.to_dataset_id), own)


def _named(index: CatalogIndex, name: str | None) -> StageContext | None:
    """The only stage with this name; None if no stage, or more than one, has it."""
    found = [c for c in index.stages.values() if name is not None and c.stage.stage_name == name]
    return found[0] if len(found) == 1 else None


def _reading(sql: str, dialect: str | None, old: str, new: str) -> str | None:
    """The SQL with another table in place of the source; None if it cannot be parsed."""
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    language = dialect or "spark"
    try:
        tree = parse_one(sql, dialect=language)
    except SqlglotError:
        return None
    for table in list(tree.find_all(exp.Table)):
        if ".".join(part.name for part in table.parts) == old:
            other = exp.Table(this=exp.to_identifier(new, quoted=True))
            # Columns that name the old table keep their meaning.
            other.set("alias", table.args.get("alias") or exp.TableAlias(this=table.this.copy()))
            table.replace(other)
    return tree.sql(dialect=language)


def route_of(context: StageContext) -> str | None:
    """The datasets of the route that a stage takes instead of its default; None: the default."""
    return None if context.route is None else ",".join(context.route)


def why_it_would_double(stage: Stage, write_mode: str, read: str) -> str | None:
    """Why rows that came by another route could be there twice; None if they cannot.

    Keys decide, or the mode replaces what was there by all of the input.
    """
    replaces = WRITE_MODES.get(write_mode).replaces(stage.options)
    if replaces is Replaces.SAME_KEYS and stage.keys:
        return None
    if not replaces.keeps_rows and read == "all":
        return None
    return f"it writes by {write_mode}, and nothing tells its rows apart by key"
