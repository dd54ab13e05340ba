"""Shaping: a stage's SQL over its inputs, then its declarative steps, then bookkeeping.

Dataset ids in the SQL are replaced by names of views that only this stage run has: two stages
sharing a view name would read each other's rows, and an id like `analytics.orders` cannot be a
view. The text is otherwise left as it was written, so that Spark's errors name its lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from goldsmith.engine.names import name
from goldsmith.engine.transforms.add_columns import add_columns
from goldsmith.engine.transforms.cast import cast
from goldsmith.engine.transforms.latest_per_key import latest_per_key
from goldsmith.engine.transforms.rename import rename
from goldsmith.planning.neighbourhood import Neighbourhood
from goldsmith.planning.query import query_of, statement_of, table_name, tables_read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SOURCE_FILE = "_source_file"
_UNSAFE = re.compile(r"\W")


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """What bronze adds to every row of a stage run."""

    run_id: str
    at: datetime


def shape(
    spark: SparkSession, near: Neighbourhood, inputs: Mapping[str, DataFrame], marks: Shape
) -> DataFrame:
    """The rows a stage would publish."""
    rows = _by_sql(spark, near, inputs) if near.words.sql else inputs[near.inputs[0].dataset_id]
    rows = _by_options(rows, near.stage.options)
    if near.words.layer == "bronze":
        return _marked(rows, marks)
    return rows if near.words.sql else rows.drop(SOURCE_FILE)


def _by_sql(spark: SparkSession, near: Neighbourhood, inputs: Mapping[str, DataFrame]) -> DataFrame:
    views = {
        dataset: f"goldsmith_{place}_{_UNSAFE.sub('_', dataset)}"
        for place, dataset in enumerate(inputs)
    }
    for dataset, view in views.items():
        inputs[dataset].createOrReplaceTempView(view)
    keep_file = near.words.layer == "bronze" and near.stage.source_id is not None
    source = near.stage.source_id if keep_file else None
    text = near.words.sql or ""
    return spark.sql(_over_views(text, near.words.dialect, tuple(views.items()), source))


@lru_cache(maxsize=1024)
def _over_views(
    text: str, dialect: str | None, views: tuple[tuple[str, str], ...], source: str | None
) -> str:
    """Parsed once: a stage runs again and again, and its SQL is seldom another."""
    return over_views(text, dialect, dict(views), source_file_of=source)


def over_views(
    text: str,
    dialect: str | None,
    views: Mapping[str, str],
    *,
    source_file_of: str | None = None,
) -> str:
    """A stage's SELECT with views in the place of dataset ids, in Spark's dialect."""
    statement = statement_of(text, dialect)
    query, writes = query_of(statement)
    kept = dialect in (None, "", "spark") and writes is None
    added = _with_source_file(query, source_file_of)
    if kept and not added:
        return _spliced(text, query, views)
    return _replaced(query, views).sql("spark", pretty=True)


def _spliced(text: str, query: exp.Query, views: Mapping[str, str]) -> str:
    """The text as it was written, with only the names of datasets changed."""
    cuts: list[tuple[int, int, str]] = []
    for table in tables_read(query):
        view = views.get(table_name(table))
        if view is None:
            continue
        start, end = _span(table.parts)
        alias = "" if table.alias else f" AS {name(table.name)}"
        cuts.append((start, end, name(view) + alias))
    for column in _fully_named(query, views):
        start, end = _span(column.parts[:-1])
        cuts.append((start, end, name(column.table)))
    for start, end, said in sorted(cuts, reverse=True):
        text = text[:start] + said + text[end + 1 :]
    return text.strip().rstrip(";")


def _span(parts: Any) -> tuple[int, int]:
    return parts[0].meta["start"], parts[-1].meta["end"]


def _replaced(query: exp.Query, views: Mapping[str, str]) -> exp.Query:
    for table in list(tables_read(query)):
        view = views.get(table_name(table))
        if view is not None:
            alias = table.alias or table.name
            made = exp.alias_(exp.to_table(view), alias, table=True)
            made.args["joins"] = table.args.get("joins")
            table.replace(made)
    for column in _fully_named(query, views):
        column.set("db", None)
        column.set("catalog", None)
    return query


def _fully_named(query: exp.Query, views: Mapping[str, str]) -> list[exp.Column]:
    """Columns like `analytics.orders.id`: a view is called by the last part of the id.

    `payload.user.id` looks the same and is a field of a column: only ids of datasets count.
    """
    return [
        column
        for column in query.find_all(exp.Column)
        if column.args.get("db") is not None
        and ".".join(part.name for part in column.parts[:-1]) in views
    ]


def _with_source_file(query: exp.Query, dataset: str | None) -> bool:
    """Select the file's name too, where the query passes rows one by one."""
    if dataset is None or not isinstance(query, exp.Select) or query.is_star:
        return False
    if query.args.get("group") or query.args.get("distinct") or SOURCE_FILE in query.named_selects:
        return False
    if any(not isinstance(agg.parent, exp.Window) for agg in query.find_all(exp.AggFunc)):
        return False
    from_ = query.args.get("from_")
    table = from_.this if from_ is not None else None
    if not isinstance(table, exp.Table) or table_name(table) != dataset:
        return False
    query.select(exp.column(SOURCE_FILE, table=table.alias or table.name), copy=False)
    return True


def keeps_source_file(near: Neighbourhood) -> bool:
    """Every row a stage gives says which file it came from."""
    if near.words.layer != "bronze":
        return False
    if near.words.sql is None:
        return True
    query, _writes = query_of(statement_of(near.words.sql, near.words.dialect))
    if query.is_star or SOURCE_FILE in query.named_selects:
        return isinstance(query, exp.Select) and not query.args.get("group")
    return _with_source_file(query, near.stage.source_id)


def _by_options(rows: DataFrame, options: Mapping[str, Any]) -> DataFrame:
    """The declarative steps, always in this order."""
    if said := options.get("rename"):
        rows = rename(rows, columns=said)
    if said := options.get("cast"):
        rows = cast(rows, columns=said)
    if said := options.get("add_columns"):
        rows = add_columns(rows, columns=said)
    if said := options.get("deduplicate"):
        rows = latest_per_key(rows, keys=said["keys"], newest_by=said.get("newest_by"))
    return rows


def _marked(rows: DataFrame, marks: Shape) -> DataFrame:
    from pyspark.sql import functions as F

    if SOURCE_FILE not in rows.columns:
        rows = rows.withColumn(SOURCE_FILE, F.lit(None).cast("string"))
    return rows.withColumns({"_ingested_at": F.lit(marks.at), "_run_id": F.lit(marks.run_id)})
