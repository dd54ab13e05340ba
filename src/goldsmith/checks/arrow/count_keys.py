"""Count the keys of rows in Parquet files: the rows of each key and their distinct hashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goldsmith.checks.arrow import expressions, jobs
from goldsmith.checks.arrow.expressions import Tree
from goldsmith.checks.keys import is_hashed, takes_part
from goldsmith.checks.measures import Keys
from goldsmith.checks.parquet_files import ParquetFiles

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

#: About how many hashes one task merges, and in how many buckets.
_HASHES_OF_TASK = 8_000_000
_BUCKETS_OF_TASK = 8


def count_keys(
    rows: DataFrame, wanted: Mapping[int, tuple[Keys, Column | None]], stored: ParquetFiles
) -> dict[int, dict[str, int]]:
    """The rows and the distinct hashes of each key that Arrow can hash."""
    return jobs.tried(rows, lambda: _count_keys(rows, wanted, stored)) or {}


def _count_keys(
    rows: DataFrame, wanted: Mapping[int, tuple[Keys, Column | None]], stored: ParquetFiles
) -> dict[int, dict[str, int]]:
    wanted = {index: pair for index, pair in wanted.items() if is_hashed(pair[0])}
    if not wanted:
        return {}
    columns = []
    for index, (keys, where) in wanted.items():
        columns.append(takes_part(keys, where).alias(f"{index} part"))
        columns += [field.value.alias(f"{index} {n}") for n, field in enumerate(keys.fields)]
    found = expressions.values(rows, columns)
    by_index = {
        index: _key_of(found, index, len(keys.fields)) for index, (keys, _) in wanted.items()
    }
    key_trees = list(dict.fromkeys(key for key in by_index.values() if key is not None))
    types = jobs.wanted_of(key_trees, stored)
    key_trees = [key for key in key_trees if jobs.is_there(key, types)]
    got = _counted(rows, key_trees, types, stored, in_order=True)
    unknown = [key for key in key_trees if key not in got]
    got |= _counted(rows, unknown, types, stored, in_order=False)
    return {
        index: {"rows": got[key][0], "distinct": got[key][1], "repeated": 0, "repeated_keys": 0}
        for index, key in by_index.items()
        if key in got
    }


def _key_of(found: Mapping[str, Tree], index: int, fields: int) -> Tree | None:
    """The tree of the rows that take part in a key, and the trees of its columns."""
    names = [f"{index} part", *(f"{index} {n}" for n in range(fields))]
    if any(name not in found for name in names):
        return None
    part, *columns = (found[name] for name in names)
    # No pattern matches: Arrow may be unable to compute them for some texts.
    is_plain = all(column[0] in ("column", "when") for column in columns)
    return (part, *columns) if is_plain and not any(map(_matches, (part, *columns))) else None


def _matches(tree: Any) -> bool:
    return isinstance(tree, tuple) and ("matches" in tree or any(map(_matches, tree)))


def _counted(
    rows: DataFrame,
    key_trees: Sequence[Tree],
    types: Mapping[str, pa.DataType],
    stored: ParquetFiles,
    *,
    in_order: bool,
) -> dict[Tree, tuple[int, int]]:
    """The rows and the distinct hashes of the keys that this job can count.

    A key that is sorted in only some parts of the files, or whose runs overlap, is left out: it
    needs another job that uses hashes alone.
    """
    from goldsmith.checks.arrow.sorted_keys import KeyRun, are_apart

    if not key_trees:
        return {}
    tasks = len(key_trees) * stored.rows // _HASHES_OF_TASK + 1
    bits = (tasks * _BUCKETS_OF_TASK // len(key_trees)).bit_length()
    work = jobs.work()
    ordered = (in_order, bool(stored.unsorted_files))
    packing = work.packing(jobs.plain(stored), types, tuple(key_trees), bits, *ordered)
    packed = jobs.tasks(rows.sparkSession, stored).mapInArrow(packing, work.PACKED)
    lists = packed.repartition(tasks, "key", "bucket")
    hashed: dict[int, list[tuple[int, int]]] = {}
    runs: dict[int, list[tuple[int, KeyRun]]] = {}
    for row in jobs.collected(lists.mapInArrow(work.merging(), work.COUNTED)):
        if row["field"] is None:
            hashed.setdefault(row["key"], []).append((row["rows"], row["distinct"]))
        else:
            run = KeyRun(row["field"], row["low"], row["high"], row["rows"])
            runs.setdefault(row["key"], []).append((row["bucket"], run))
    done = {}
    for number, key in enumerate(key_trees):
        if number not in runs:
            counts = hashed.get(number, ())
            done[key] = (sum(n for n, _ in counts), sum(n for _, n in counts))
        elif number not in hashed and (there := are_apart(runs[number])) is not None:
            done[key] = (there, there)
    return done
