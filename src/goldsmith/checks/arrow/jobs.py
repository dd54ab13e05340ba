"""Spark jobs whose tasks read Parquet files with Arrow and evaluate expression trees."""

from __future__ import annotations

import json
import logging
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from goldsmith.checks.arrow import expressions
from goldsmith.checks.arrow.expressions import Tree
from goldsmith.checks.parquet_files import ParquetFiles

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

_LOG = logging.getLogger(__name__)
#: Ids of applications whose workers failed once: they lack Arrow, or cannot reach the files.
_REFUSED: set[str] = set()


def measure(rows: DataFrame, columns: Mapping[str, Column], stored: ParquetFiles) -> dict[str, Any]:
    """Measure with Arrow the aggregates that it can compute; returns them by name."""
    return tried(rows, lambda: _measure(rows, columns, stored)) or {}


def tried(rows: DataFrame, do: Callable[[], Any]) -> Any:
    """The result of `do`; None where Arrow cannot be used."""
    try:
        if rows.sparkSession.sparkContext.applicationId in _REFUSED:
            return None
        return do()
    except Exception as error:  # Connect shows no plan; whatever the error, Spark measures instead
        _LOG.info("checks are measured by Spark alone: %s", _error_line(error))
        return None


def collected(plan: DataFrame) -> list[Any]:
    """Collect the workers' few rows; if they fail, stop using Arrow in this application."""
    try:
        return plan.collect()
    except Exception as error:
        if "cancelled" not in str(error).lower():  # a cancelled job is no failure of the workers
            _REFUSED.add(plan.sparkSession.sparkContext.applicationId)
            _LOG.warning(
                "Python workers cannot measure checks, and Spark does: %s", _error_line(error)
            )
        raise


def _error_line(error: Exception) -> str:
    """The line that names the error: errors of the JVM begin with the failed call."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return next((line for line in lines if "Exception" in line or "Error" in line), lines[0])


def _measure(
    rows: DataFrame, columns: Mapping[str, Column], stored: ParquetFiles
) -> dict[str, Any]:
    from goldsmith.checks.arrow import arrow_eval

    found = expressions.aggregates(rows, [column.alias(name) for name, column in columns.items()])
    done = {name: tree[1] for name, tree in found.items() if tree[0] == "constant"}
    trees = list(dict.fromkeys(_base(tree) for name, tree in found.items() if name not in done))
    wanted = wanted_of(trees, stored)
    trees = [tree for tree in trees if is_there(tree, wanted)]
    if not trees:
        return done
    measuring = work().measuring(plain(stored), wanted, tuple(trees))
    partials = collected(tasks(rows.sparkSession, stored).mapInArrow(measuring, "found string"))
    total: list[Any] = [None] * len(trees)
    for row in partials:
        parts = json.loads(row["found"])
        total = [arrow_eval.merged(*each) for each in zip(trees, total, parts, strict=True)]
    by_tree = dict(zip(trees, total, strict=True))
    for name, tree in found.items():
        base = _base(tree)
        if base in by_tree and by_tree[base] != arrow_eval.UNSURE:
            done[name] = _compared(tree, _as_spark_says(base, by_tree[base]))
    return done


def _base(tree: Tree) -> Tree:
    """The aggregate to measure: for a comparison, the aggregate that is compared."""
    return tree[1][1] if tree[0] == "compared" else tree


def _compared(tree: Tree, found: Any) -> Any:
    if tree[0] != "compared" or found is None:
        return found
    function, _, bound = tree[1]
    return getattr(operator, function)(found, bound)


def _as_spark_says(tree: Tree, found: Any) -> Any:
    """A measure as the Python value that a row collected from Spark would have."""
    from pyspark.sql import types

    name, _, kind = tree
    if name == "count":
        return found or 0
    if found is None:
        return None
    if name == "mean":
        return found[0] / found[1]
    internal = {
        "timestamp": types.TimestampType(),
        "timestamp_ntz": types.TimestampNTZType(),
        "date": types.DateType(),
    }.get(kind)
    return found if internal is None else internal.fromInternal(found)


def wanted_of(trees: Sequence[Tree], stored: ParquetFiles) -> dict[str, pa.DataType]:
    """The columns of the trees that can be read from the files, with their types."""
    from goldsmith.checks.arrow.arrow_eval import arrow_type, columns_of

    return {
        name: arrow_type(kind)
        for kind, name in columns_of(trees)
        if name in stored.columns and "." not in name  # Parquet readers take it as a path
    }


def is_there(tree: Tree, wanted: Mapping[str, Any]) -> bool:
    from goldsmith.checks.arrow.arrow_eval import columns_of

    return all(name in wanted for _, name in columns_of(tree))


def tasks(spark: SparkSession, stored: ParquetFiles) -> DataFrame:
    """One row and one task for each part of the files."""
    number = len(stored.parts)
    return spark.range(0, number, 1, max(number, 1))


@lru_cache(maxsize=1)
def work() -> Any:
    """The module of task functions, pickled by value: workers have only Arrow and numpy."""
    from pyspark import cloudpickle

    from goldsmith.checks.arrow import arrow_eval, hashing, reading, sorted_keys, tasks

    for module in (hashing, arrow_eval, sorted_keys, reading, tasks):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    return tasks


def plain(stored: ParquetFiles) -> tuple[Any, ...]:
    """The files in built-in types, which workers can unpickle."""
    known = {name: tuple(known) for name, known in stored.columns.items()}
    parts = tuple(tuple(map(tuple, ranges)) for ranges in stored.parts)
    return (parts, known, dict(stored.s3))
