"""Jobs of Spark whose tasks read files by Arrow and measure what has a tree."""

from __future__ import annotations

import json
import logging
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from goldsmith.checks.keys import is_hashed, takes_part
from goldsmith.checks.measures import Keys
from goldsmith.checks.native import trees
from goldsmith.checks.native.stored import Stored
from goldsmith.checks.native.trees import Tree

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

_LOG = logging.getLogger(__name__)
#: So many hashes one task makes sorted lists of, about; each is for a few buckets.
_HASHES_OF_TASK = 8_000_000
_BUCKETS_OF_TASK = 8
#: The applications whose workers could not do it once: they have no Arrow, or cannot reach files.
_REFUSED: set[str] = set()


def measure(rows: DataFrame, columns: Mapping[str, Column], stored: Stored) -> dict[str, Any]:
    """Those of the aggregates over the rows that Arrow measured, by their names."""
    return _tried(rows, lambda: _measure(rows, columns, stored)) or {}


def count_keys(
    rows: DataFrame, wanted: Mapping[int, tuple[Keys, Column | None]], stored: Stored
) -> dict[int, dict[str, int]]:
    """The rows of each key and how many different hashes they have; of the keys Arrow hashes."""
    return _tried(rows, lambda: _count_keys(rows, wanted, stored)) or {}


def _tried(rows: DataFrame, do: Callable[[], Any]) -> Any:
    """What comes of it; None where it cannot be done this way."""
    try:
        if rows.sparkSession.sparkContext.applicationId in _REFUSED:
            return None
        return do()
    except Exception as error:  # Connect shows no plan; whatever it is, Spark can do it
        _LOG.info("checks are measured by Spark alone: %s", _first_line(error))
        return None


def _collected(plan: DataFrame) -> list[Any]:
    """The few rows that workers give back; where they cannot, they are not asked again."""
    try:
        return plan.collect()
    except Exception as error:
        said = _first_line(error)
        if "cancelled" not in said.lower():  # the work was stopped, and not by them
            _REFUSED.add(plan.sparkSession.sparkContext.applicationId)
            _LOG.warning("Python workers cannot measure checks, and Spark does: %s", said)
        raise


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _measure(rows: DataFrame, columns: Mapping[str, Column], stored: Stored) -> dict[str, Any]:
    from goldsmith.checks.native import kernel

    found = trees.aggregates(rows, [column.alias(name) for name, column in columns.items()])
    done = {name: tree[1] for name, tree in found.items() if tree[0] == "constant"}
    asked = list(dict.fromkeys(_base(tree) for name, tree in found.items() if name not in done))
    wanted = _wanted(asked, stored)
    asked = [tree for tree in asked if _is_there(tree, wanted)]
    if not asked:
        return done
    work = _work().measuring(_plain(stored), wanted, tuple(asked))
    told = _collected(_tasks(rows.sparkSession, stored).mapInArrow(work, "found string"))
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


def _count_keys(
    rows: DataFrame, wanted: Mapping[int, tuple[Keys, Column | None]], stored: Stored
) -> dict[int, dict[str, int]]:
    from pyspark.sql import functions as F

    wanted = {place: pair for place, pair in wanted.items() if is_hashed(pair[0])}
    if not wanted:
        return {}
    columns = []
    for place, (keys, where) in wanted.items():
        columns.append(takes_part(keys, where).alias(f"{place} part"))
        columns += [field.value.alias(f"{place} {n}") for n, field in enumerate(keys.fields)]
    found = trees.values(rows, columns)
    by_place = {
        place: _key_of(found, place, len(keys.fields)) for place, (keys, _) in wanted.items()
    }
    asked = list(dict.fromkeys(key for key in by_place.values() if key is not None))
    types = _wanted(asked, stored)
    asked = [key for key in asked if _is_there(key, types)]
    if not asked:
        return {}
    tasks = len(asked) * stored.rows // _HASHES_OF_TASK + 1
    bits = (tasks * _BUCKETS_OF_TASK // len(asked)).bit_length()
    packed = _tasks(rows.sparkSession, stored).mapInArrow(
        _work().packing(_plain(stored), types, tuple(asked), bits),
        "key int, bucket int, hashes binary",
    )
    lists = packed.repartition(tasks, "key", "bucket")
    counted = lists.mapInArrow(_work().merging(), "key int, rows long, distinct long")
    sums = counted.groupBy("key").agg(F.sum("rows").alias("rows"), F.sum("distinct").alias("n"))
    got = {asked[row["key"]]: (row["rows"], row["n"]) for row in _collected(sums)}
    done = {}
    for place, key in by_place.items():
        if key in asked:
            number, distinct = got.get(key, (0, 0))
            done[place] = {"rows": number, "distinct": distinct, "repeated": 0, "repeated_keys": 0}
    return done


def _key_of(found: Mapping[str, Tree], place: int, fields: int) -> Tree | None:
    """Which rows take part in a key, and its columns."""
    names = [f"{place} part", *(f"{place} {n}" for n in range(fields))]
    if any(name not in found for name in names):
        return None
    part, *columns = (found[name] for name in names)
    # Whether a row takes part must be known of each.
    is_plain = all(one[0] in ("column", "when") for one in columns)
    return (part, *columns) if is_plain and not any(map(_matches, (part, *columns))) else None


def _matches(tree: Any) -> bool:
    return isinstance(tree, tuple) and ("matches" in tree or any(map(_matches, tree)))


def _wanted(asked: Sequence[Tree], stored: Stored) -> dict[str, pa.DataType]:
    """The columns of the trees that can be read of the files, with their types."""
    from goldsmith.checks.native.kernel import arrow_type

    return {
        name: arrow_type(kind)
        for kind, name in _columns(asked)
        if name in stored.columns and "." not in name  # a path, to whoever reads Parquet
    }


def _columns(tree: Any) -> Iterator[tuple[str, str]]:
    if isinstance(tree, list | tuple):
        if tree and tree[0] == "column":
            yield tree[1], tree[2]
        else:
            for part in tree:
                yield from _columns(part)


def _is_there(tree: Tree, wanted: Mapping[str, Any]) -> bool:
    return all(name in wanted for _, name in _columns(tree))


def _tasks(spark: SparkSession, stored: Stored) -> DataFrame:
    """One row and one task for each part of the files."""
    number = len(stored.ranges)
    return spark.range(0, number, 1, max(number, 1))


@lru_cache(maxsize=1)
def _work() -> Any:
    """What tasks do. Workers have Arrow and numpy; what is ours comes to them with the work."""
    from pyspark import cloudpickle

    from goldsmith.checks.native import hashing, kernel, reading, tasks

    for module in (hashing, kernel, reading, tasks):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    return tasks


def _plain(stored: Stored) -> tuple[Any, ...]:
    """What workers are told of the files, in types they know."""
    known = {name: tuple(known) for name, known in stored.columns.items()}
    return (tuple(map(tuple, stored.ranges)), known, dict(stored.s3))
