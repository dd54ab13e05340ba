"""The keys of rows in files: how many there are, and how many different hashes they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goldsmith.checks.keys import is_hashed, takes_part
from goldsmith.checks.measures import Keys
from goldsmith.checks.native import jobs, trees
from goldsmith.checks.native.stored import Stored
from goldsmith.checks.native.trees import Tree

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

#: So many hashes one task makes sorted lists of, about; each is for a few buckets.
_HASHES_OF_TASK = 8_000_000
_BUCKETS_OF_TASK = 8


def count_keys(
    rows: DataFrame, wanted: Mapping[int, tuple[Keys, Column | None]], stored: Stored
) -> dict[int, dict[str, int]]:
    """The rows of each key and how many different hashes they have; of the keys Arrow hashes."""
    return jobs.tried(rows, lambda: _count_keys(rows, wanted, stored)) or {}


def _count_keys(
    rows: DataFrame, wanted: Mapping[int, tuple[Keys, Column | None]], stored: Stored
) -> dict[int, dict[str, int]]:
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
    types = jobs.wanted_of(asked, stored)
    asked = [key for key in asked if jobs.is_there(key, types)]
    got = _counted(rows, asked, types, stored, in_order=True)
    unknown = [key for key in asked if key not in got]
    got |= _counted(rows, unknown, types, stored, in_order=False)
    return {
        place: {"rows": got[key][0], "distinct": got[key][1], "repeated": 0, "repeated_keys": 0}
        for place, key in by_place.items()
        if key in got
    }


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


def _counted(
    rows: DataFrame,
    asked: Sequence[Tree],
    types: Mapping[str, pa.DataType],
    stored: Stored,
    *,
    in_order: bool,
) -> dict[Tree, tuple[int, int]]:
    """Rows and different hashes of each key, or of as many as it is clear of.

    A key that comes in order in some part of the files, and elsewhere not, or whose parts meet, is
    to be asked for once more, by its hashes alone.
    """
    from goldsmith.checks.native.order import Run, are_apart

    if not asked:
        return {}
    tasks = len(asked) * stored.rows // _HASHES_OF_TASK + 1
    bits = (tasks * _BUCKETS_OF_TASK // len(asked)).bit_length()
    work = jobs.work()
    ordered = (in_order, bool(stored.strays))
    packing = work.packing(jobs.plain(stored), types, tuple(asked), bits, *ordered)
    packed = jobs.tasks(rows.sparkSession, stored).mapInArrow(packing, work.PACKED)
    lists = packed.repartition(tasks, "key", "bucket")
    hashed: dict[int, list[tuple[int, int]]] = {}
    runs: dict[int, list[tuple[int, Run]]] = {}
    for row in jobs.collected(lists.mapInArrow(work.merging(), work.COUNTED)):
        if row["field"] is None:
            hashed.setdefault(row["key"], []).append((row["rows"], row["distinct"]))
        else:
            run = Run(row["field"], row["low"], row["high"], row["rows"])
            runs.setdefault(row["key"], []).append((row["bucket"], run))
    done = {}
    for number, key in enumerate(asked):
        if number not in runs:
            counts = hashed.get(number, ())
            done[key] = (sum(n for n, _ in counts), sum(n for _, n in counts))
        elif number not in hashed and (there := are_apart(runs[number])) is not None:
            done[key] = (there, there)
    return done
