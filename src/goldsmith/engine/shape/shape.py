"""Shape rows: run the stage's SQL over its inputs, apply its options, add bronze's columns.

Dataset ids in the SQL are replaced by the names of this stage run's views: two stages that share
a view name would read each other's rows, and an id like `analytics.orders` cannot name a view.
The rest of the text stays as written, so that Spark's errors name its lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from goldsmith.catalog.transforms import transforms_of
from goldsmith.engine.names import name
from goldsmith.engine.shape.reserved_columns import refuse_reserved
from goldsmith.planning.provenance import select_source_file
from goldsmith.planning.query import (
    is_spark,
    printed,
    query_of,
    statement_of,
    table_name,
    tables_read,
)
from goldsmith.planning.resolved_stage import BRONZE_COLUMNS
from goldsmith.planning.spark_text import as_written, with_source_file
from goldsmith.planning.stage_context import StageContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SOURCE_FILE, INGESTED_AT, RUN_ID = BRONZE_COLUMNS
#: Spark takes only ASCII letters in the name of a view.
_UNSAFE = re.compile(r"\W", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """The values that bronze adds to every row of a stage run."""

    run_id: str
    at: datetime


def shape(
    spark: SparkSession, context: StageContext, inputs: Mapping[str, DataFrame], marks: Shape
) -> DataFrame:
    """The rows a stage would publish."""
    rows = (
        _by_sql(spark, context, inputs)
        if context.resolved.sql
        else inputs[context.inputs[0].dataset_id]
    )
    rows = _by_options(rows, context.stage.options)
    refuse_reserved(context, inputs, rows)
    if context.resolved.layer == "bronze":
        return _marked(rows, marks)
    return rows if context.resolved.sql else rows.drop(SOURCE_FILE)


def view_names(datasets: Iterable[str]) -> dict[str, str]:
    """The view that stands for each dataset in a stage's SQL."""
    return {
        dataset: f"goldsmith_{index}_{_UNSAFE.sub('_', dataset)}"
        for index, dataset in enumerate(datasets)
    }


def _by_sql(
    spark: SparkSession, context: StageContext, inputs: Mapping[str, DataFrame]
) -> DataFrame:
    views = view_names(inputs)
    text = context.resolved.sql or ""
    first = context.inputs[0].dataset_id
    keeps_file = context.resolved.layer == "bronze" and SOURCE_FILE in inputs[first].columns
    for dataset, view in views.items():
        rows = inputs[dataset]
        if keeps_file and dataset != first and SOURCE_FILE not in text.lower():
            rows = rows.drop(SOURCE_FILE)  # SELECT * would add the file of a look-up row
        rows.createOrReplaceTempView(view)
    source = first if keeps_file else None
    return spark.sql(_over_views(text, context.resolved.dialect, tuple(views.items()), source))


@lru_cache(maxsize=1024)
def _over_views(
    text: str, dialect: str | None, views: tuple[tuple[str, str], ...], source: str | None
) -> str:
    """`over_views` with a cache: a stage runs often, and its SQL seldom changes."""
    return over_views(text, dialect, dict(views), source_file_of=source)


def over_views(
    text: str,
    dialect: str | None,
    views: Mapping[str, str],
    *,
    source_file_of: str | None = None,
) -> str:
    """A stage's SELECT in Spark's dialect, with view names instead of dataset ids."""
    if is_spark(dialect):
        text = as_written(text, dialect)
        if source_file_of is not None:
            text = with_source_file(text, dialect, source_file_of) or text
        return _spliced(text, query_of(statement_of(text, dialect))[0], views)
    query, _writes = query_of(statement_of(text, dialect))
    if source_file_of is not None:
        select_source_file(query, source_file_of)
    return printed(_replaced(query, views), dialect)


def _spliced(text: str, query: exp.Query, views: Mapping[str, str]) -> str:
    """The text as it was written, with only the names of datasets changed."""
    cuts: list[tuple[int, int, str]] = []
    fully_named = _fully_named(query, views)
    aliases = _aliases(query, fully_named)
    for table in tables_read(query):
        view = views.get(table_name(table))
        if view is None:
            continue
        start, end = _span(table.parts)
        replacement = name(view)
        if not table.alias:
            alias = aliases.get(table_name(table), table.name)
            replacement = f"{replacement} AS {name(alias)}"
            # Spark wants an alias after TABLESAMPLE; in parentheses it may come before.
            replacement = f"({replacement})" if table.args.get("sample") else replacement
        cuts.append((start, end, replacement))
    for column, parts in fully_named:
        start, end = _span(column.parts[:parts])
        cuts.append((start, end, name(aliases[_id_of(column, parts)])))
    for start, end, replacement in sorted(set(cuts), reverse=True):
        text = text[:start] + replacement + text[end + 1 :]
    return text.strip()


def _span(parts: Any) -> tuple[int, int]:
    return parts[0].meta["start"], parts[-1].meta["end"]


def _replaced(query: exp.Query, views: Mapping[str, str]) -> exp.Query:
    fully_named = _fully_named(query, views)
    aliases = _aliases(query, fully_named)
    for table in list(tables_read(query)):
        view = views.get(table_name(table))
        if view is not None:
            if not table.alias:
                alias = aliases.get(table_name(table), table.name)
                table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
            # Changed in place, so that joins, PIVOT and TABLESAMPLE of the table stay.
            table.set("this", exp.to_identifier(view))
            table.set("db", None)
            table.set("catalog", None)
    for column, parts in fully_named:
        first, *fields = column.parts[parts:]
        short = exp.Column(this=first, table=exp.to_identifier(aliases[_id_of(column, parts)]))
        column.replace(exp.Dot.build([short, *fields]) if fields else short)
    return query


def _fully_named(query: exp.Query, views: Mapping[str, str]) -> list[tuple[exp.Column, int]]:
    """Columns like `analytics.orders.id`, with the number of parts that form the dataset id.

    `payload.user.id` looks the same but is a field of a column: only ids of datasets that the
    query reads count.
    """
    read = views.keys() & {table_name(table) for table in tables_read(query)}
    found = []
    for column in query.find_all(exp.Column):
        ids = [parts for parts in range(2, len(column.parts)) if _id_of(column, parts) in read]
        found += [(column, parts) for parts in ids[-1:]]
    return found


def _id_of(column: exp.Column, parts: int) -> str:
    return ".".join(part.name for part in column.parts[:parts])


def _aliases(query: exp.Query, fully_named: list[tuple[exp.Column, int]]) -> dict[str, str]:
    """The alias of each dataset whose id is part of a column's name.

    It is the last part of the id, so that `orders.id` means `analytics.orders.id`, too. But if
    another relation of the query has that name, only the whole id tells the two apart.
    """
    datasets = {_id_of(column, parts) for column, parts in fully_named}
    others = {alias.name.lower() for alias in query.find_all(exp.TableAlias)}
    tables = {(table_name(table), table.name.lower()) for table in query.find_all(exp.Table)}
    aliases: dict[str, str] = {}
    for dataset in datasets:
        last = dataset.rpartition(".")[2]
        taken = others | {short for table, short in tables if table != dataset}
        aliases[dataset] = dataset if last.lower() in taken else last
    return aliases


def _by_options(rows: DataFrame, options: Mapping[str, Any]) -> DataFrame:
    """Apply the transforms of the stage's options, always in the order of their positions."""
    for transform, value in transforms_of(options):
        if value:
            rows = transform.apply(rows, value)
    return rows


def _marked(rows: DataFrame, marks: Shape) -> DataFrame:
    from pyspark.sql import functions as F

    if SOURCE_FILE not in (column.lower() for column in rows.columns):
        rows = rows.withColumn(SOURCE_FILE, F.lit(None).cast("string"))
    return rows.withColumns({INGESTED_AT: F.lit(marks.at), RUN_ID: F.lit(marks.run_id)})
