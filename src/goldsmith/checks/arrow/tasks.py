"""Functions that run in Spark tasks: read a part of the files and return a few result rows.

This module is pickled by value to the Python workers: it imports only what they have.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from goldsmith.checks.arrow.arrow_eval import (
    Batch,
    columns_of,
    measure,
    often_matched,
    without_nulls,
)
from goldsmith.checks.arrow.hashing import hashes
from goldsmith.checks.arrow.reading import batches, complete
from goldsmith.checks.arrow.sorted_keys import (
    UNSORTED_FILES,
    KeyRun,
    SortedKeys,
    UnsortedKeys,
    follow,
)

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_SPARKS = {pa.int32(): "int", pa.int64(): "long", pa.binary(): "binary"}
_RUN = {"field": pa.int32(), "low": pa.int64(), "high": pa.int64(), "rows": pa.int64()}
#: A row about a key in a part of the files: the hashes of one bucket, or a run of one column. For
#: a run the bucket is the number of the part.
_PACKED = {"key": pa.int32(), "bucket": pa.int32(), "hashes": pa.binary(), **_RUN}
#: The same, with the hashes counted.
_COUNTED = {"key": pa.int32(), "bucket": pa.int32(), **_RUN, "distinct": pa.int64()}
PACKED, COUNTED = (
    ", ".join(f"{name} {_SPARKS[type_]}" for name, type_ in columns.items())
    for columns in (_PACKED, _COUNTED)
)


def measuring(stored: Any, wanted: Mapping[str, pa.DataType], aggregates: Any) -> Task:
    """Measure aggregates of each part of the files."""
    parts, known_as, s3 = stored
    # The larger the batch, the more values repeat.
    many = bool(often_matched(aggregates))

    def run(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in _all(numbers):
            # A column without NULLs, by the footers, need not be read for NULL checks alone.
            full = complete(parts[number], wanted, known_as, s3)
            simpler = [without_nulls(aggregate, full) for aggregate in aggregates]
            names = {name for _, name in columns_of(simpler)}
            types = {name: type_ for name, type_ in wanted.items() if name in names}
            rows = batches(parts[number], types, known_as, s3, many_at_once=many)
            found = measure(rows, simpler)
            yield pa.RecordBatch.from_pydict({"found": [json.dumps(found)]})

    return run


def packing(
    stored: Any,
    wanted: Mapping[str, pa.DataType],
    key_trees: Any,
    bits: int,
    in_order: bool,
    has_unsorted: bool,
) -> Task:
    """Return runs or hashes of the keys in each part; the last part may be the unsorted files.

    With `in_order`, a sorted key returns its runs. Any other key returns sorted lists of hashes,
    one for each bucket.
    """
    parts, known_as, s3 = stored
    half = 1 << bits >> 1
    edges = np.arange(1 - half, half, dtype=np.int64) << np.int64(64 - bits)

    def read(number: int, names: set[str], *, to_the_end: bool = True) -> Iterator[Batch]:
        types = {name: type_ for name, type_ in wanted.items() if name in names}
        found = batches(parts[number], types, known_as, s3, to_the_end=to_the_end)
        return map(Batch, found)

    def runs_of(number: int) -> dict[int, list[KeyRun]]:
        """The runs of the keys that are sorted in a part, or unique among the unsorted rows."""
        unsorted: dict[int, UnsortedKeys] = {}
        if has_unsorted:
            names = set().union(*(SortedKeys(key).looks_at for key in key_trees))
            few = list(read(len(parts) - 1, names))
            unsorted = {index: UnsortedKeys.of(key, few) for index, key in enumerate(key_trees)}
        if has_unsorted and number == len(parts) - 1:
            return {index: key.runs for index, key in unsorted.items() if key.holds}
        keys = {index: SortedKeys(key, unsorted.get(index)) for index, key in enumerate(key_trees)}
        glance = partial(read, number, to_the_end=False)
        return {index: key.runs for index, key in follow(keys, glance).items()}

    def run(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in _all(numbers):
            left = set(range(len(key_trees)))
            name = UNSORTED_FILES if has_unsorted and number == len(parts) - 1 else number
            for index, runs in runs_of(number).items() if in_order else ():
                left.discard(index)
                yield _packed_batch(
                    {"key": index, "bucket": name, **key_run._asdict()} for key_run in runs
                )
            found: dict[int, list[Any]] = {index: [] for index in sorted(left)}
            names = {name for index in left for _, name in columns_of(key_trees[index])}
            for batch in read(number, names) if left else ():
                for index, lists in found.items():
                    part, *columns = key_trees[index]
                    if batch.count(part):
                        own = hashes([batch.array(column) for column in columns])
                        lists.append(_taken(own, batch, part))
            for index, lists in found.items():
                if lists:
                    whole = _sorted(lists)
                    buckets = np.split(whole, np.searchsorted(whole, edges))
                    yield _packed_batch(
                        {"key": index, "bucket": bucket, "hashes": own.data.cast("B")}
                        for bucket, own in enumerate(buckets)
                    )

    return run


def _taken(own: Any, batch: Batch, part: Any) -> Any:
    taken = batch.value(part)
    if isinstance(taken, pa.Scalar):  # the same for all rows: true
        return own
    return own[np.asarray(taken.fill_null(False))]


def _packed_batch(rows: Iterable[Mapping[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), pa.schema(_PACKED))


def merging() -> Task:
    """Count the distinct hashes of each bucket; rows about runs stay unchanged."""

    def run(packed_batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _forget_archives()
        counted: list[dict[str, Any]] = []
        hashes_of: dict[tuple[int, int], list[Any]] = defaultdict(list)
        for rows in packed_batches:
            lists = rows.column("hashes")
            for row, packed in zip(rows.drop_columns(["hashes"]).to_pylist(), lists, strict=True):
                if packed.is_valid:
                    own = np.frombuffer(packed.as_buffer(), np.int64)
                    hashes_of[row["key"], row["bucket"]].append(own)
                else:
                    counted.append(row)
        for (key, bucket), parts in hashes_of.items():
            whole = _sorted(parts)
            distinct = int(np.count_nonzero(whole[1:] != whole[:-1])) + (1 if len(whole) else 0)
            counts = {"rows": len(whole), "distinct": distinct}
            counted.append({"key": key, "bucket": bucket, **counts})
        yield pa.RecordBatch.from_pylist(counted, pa.schema(_COUNTED))

    return run


def _sorted(lists: list[Any]) -> Any:
    whole = np.concatenate(lists).view(np.int64)  # numpy sorts these twice as fast as unsigned
    whole.sort()
    return whole


def _all(numbers: Iterator[pa.RecordBatch]) -> Iterator[int]:
    _forget_archives()
    for rows in numbers:
        yield from rows.column(0).to_pylist()


def _forget_archives() -> None:
    """Drop cached zip importers: Python 3.11 rereads their archives at the start of each task.

    PySpark is in such an archive on workers. An archive that is needed again is found again.
    """
    for path, finder in list(sys.path_importer_cache.items()):
        if type(finder).__name__ == "zipimporter":
            del sys.path_importer_cache[path]
