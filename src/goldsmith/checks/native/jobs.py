"""Jobs of Spark whose tasks read files by Arrow and measure what has a tree."""

from __future__ import annotations

import json
import logging
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from goldsmith.checks.native import trees
from goldsmith.checks.native.stored import Stored
from goldsmith.checks.native.trees import Tree

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

_T = TypeVar("_T")
_LOG = logging.getLogger(__name__)
#: The applications whose workers could not do it once: they have no Arrow, or cannot reach files.
_REFUSED: set[str] = set()


def measure(rows: DataFrame, columns: Mapping[str, Column], stored: Stored) -> dict[str, Any]:
    """Those of the aggregates over the rows that Arrow measured, by their names."""
    return tried(rows, lambda: _measure(rows, columns, stored)) or {}


@contextmanager
def meanwhile(rows: DataFrame, do: Callable[[], _T]) -> Iterator[Callable[[], _T]]:
    """Do something in a thread of its own meanwhile; what is given tells what came of it.

    While the driver plans one job the tasks of another have the processors. Jobs of both are
    stopped together: the thread has the job tags of this one.
    """
    from pyspark import inheritable_thread_target

    spark = rows.sparkSession
    inherits: Any = inheritable_thread_target(spark)
    if inherits is spark:  # threads of Python are not threads of the JVM here: PYSPARK_PIN_THREAD
        done = do()
        yield lambda: done
        return
    with ThreadPoolExecutor(1, thread_name_prefix="checks") as pool:
        later = pool.submit(inherits(do))
        yield later.result


def tried(rows: DataFrame, do: Callable[[], Any]) -> Any:
    """What comes of it; None where it cannot be done this way."""
    try:
        if rows.sparkSession.sparkContext.applicationId in _REFUSED:
            return None
        return do()
    except Exception as error:  # Connect shows no plan; whatever it is, Spark can do it
        _LOG.info("checks are measured by Spark alone: %s", _said(error))
        return None


def collected(plan: DataFrame) -> list[Any]:
    """The few rows that workers give back; where they cannot, they are not asked again."""
    try:
        return plan.collect()
    except Exception as error:
        if "cancelled" not in str(error).lower():  # the work was stopped, and not by them
            _REFUSED.add(plan.sparkSession.sparkContext.applicationId)
            _LOG.warning("Python workers cannot measure checks, and Spark does: %s", _said(error))
        raise


def _said(error: Exception) -> str:
    """The line of an error that names it: the JVM's begin with which call it was."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return next((line for line in lines if "Exception" in line or "Error" in line), lines[0])


def _measure(rows: DataFrame, columns: Mapping[str, Column], stored: Stored) -> dict[str, Any]:
    from goldsmith.checks.native import kernel

    found = trees.aggregates(rows, [column.alias(name) for name, column in columns.items()])
    done = {name: tree[1] for name, tree in found.items() if tree[0] == "constant"}
    asked = list(dict.fromkeys(_base(tree) for name, tree in found.items() if name not in done))
    wanted = wanted_of(asked, stored)
    asked = [tree for tree in asked if is_there(tree, wanted)]
    if not asked:
        return done
    measuring = work().measuring(plain(stored), wanted, tuple(asked))
    told = collected(tasks(rows.sparkSession, stored).mapInArrow(measuring, "found string"))
    total: list[Any] = [None] * len(asked)
    for row in told:
        parts = json.loads(row["found"])
        total = [kernel.merged(*each) for each in zip(asked, total, parts, strict=True)]
    by_tree = dict(zip(asked, total, strict=True))
    for name, tree in found.items():
        base = _base(tree)
        if base in by_tree and by_tree[base] != kernel.UNSURE:
            done[name] = _compared(tree, _as_spark_says(base, by_tree[base]))
    return done


def _base(tree: Tree) -> Tree:
    """What is to be measured for it."""
    return tree[1][1] if tree[0] == "compared" else tree


def _compared(tree: Tree, found: Any) -> Any:
    if tree[0] != "compared" or found is None:
        return found
    function, _, bound = tree[1]
    return getattr(operator, function)(found, bound)


def _as_spark_says(tree: Tree, found: Any) -> Any:
    """A measure as a row collected from Spark has it."""
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


def wanted_of(asked: Sequence[Tree], stored: Stored) -> dict[str, pa.DataType]:
    """The columns of the trees that can be read of the files, with their types."""
    from goldsmith.checks.native.kernel import arrow_type, columns_of

    return {
        name: arrow_type(kind)
        for kind, name in columns_of(asked)
        if name in stored.columns and "." not in name  # a path, to whoever reads Parquet
    }


def is_there(tree: Tree, wanted: Mapping[str, Any]) -> bool:
    from goldsmith.checks.native.kernel import columns_of

    return all(name in wanted for _, name in columns_of(tree))


def tasks(spark: SparkSession, stored: Stored) -> DataFrame:
    """One row and one task for each part of the files."""
    number = len(stored.parts)
    return spark.range(0, number, 1, max(number, 1))


@lru_cache(maxsize=1)
def work() -> Any:
    """What tasks do. Workers have Arrow and numpy; what is ours comes to them with the work."""
    from pyspark import cloudpickle

    from goldsmith.checks.native import hashing, kernel, order, reading, tasks

    for module in (hashing, kernel, order, reading, tasks):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    return tasks


def plain(stored: Stored) -> tuple[Any, ...]:
    """What workers are told of the files, in types they know."""
    known = {name: tuple(known) for name, known in stored.columns.items()}
    parts = tuple(tuple(map(tuple, ranges)) for ranges in stored.parts)
    return (parts, known, dict(stored.s3))
