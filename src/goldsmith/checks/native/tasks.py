"""What single tasks do: read their part of the files, and tell what they found in a few rows.

This file travels to the workers as it is: it imports what they have.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from goldsmith.checks.native.hashing import hashes
from goldsmith.checks.native.kernel import Batch, measure
from goldsmith.checks.native.reading import batches

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def measuring(stored: Any, wanted: Mapping[str, pa.DataType], asked: Any) -> Task:
    """Measure aggregates of each part of the files."""
    ranges, known_as, s3 = stored

    def run(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in _all(numbers):
            found = measure(batches(ranges[number], wanted, known_as, s3), asked)
            yield pa.RecordBatch.from_pydict({"found": [json.dumps(found)]})

    return run


def packing(stored: Any, wanted: Mapping[str, pa.DataType], asked: Any, bits: int) -> Task:
    """Hash the keys of each part of the files: sorted lists, one for each bucket."""
    ranges, known_as, s3 = stored
    half = 1 << bits >> 1
    edges = np.arange(1 - half, half, dtype=np.int64) << np.int64(64 - bits)

    def run(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in _all(numbers):
            found: list[list[Any]] = [[] for _ in asked]
            for rows in batches(ranges[number], wanted, known_as, s3):
                batch = Batch(rows)
                for place, (part, *columns) in enumerate(asked):
                    if batch.count(part):
                        own = hashes([batch.array(column) for column in columns])
                        found[place].append(_taken(own, batch, part))
            for place, lists in enumerate(found):
                if lists:
                    whole = _sorted(lists)
                    yield _packed(place, np.split(whole, np.searchsorted(whole, edges)))

    return run


def _taken(own: Any, batch: Batch, part: Any) -> Any:
    taken = batch.value(part)
    if isinstance(taken, pa.Scalar):  # all: there are some
        return own
    return own[np.asarray(taken.fill_null(False))]


def _packed(key: int, buckets: list[Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [
            pa.array([key] * len(buckets), pa.int32()),
            pa.array(range(len(buckets)), pa.int32()),
            pa.array([memoryview(one).cast("B") for one in buckets], pa.binary()),
        ],
        names=["key", "bucket", "hashes"],
    )


def merging() -> Task:
    """Count the different hashes of each bucket."""

    def run(lists: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _forget_archives()
        held: dict[tuple[int, int], list[Any]] = defaultdict(list)
        for rows in lists:
            keys, buckets = rows.column(0).to_pylist(), rows.column(1).to_pylist()
            for key, bucket, packed in zip(keys, buckets, rows.column(2), strict=True):
                held[key, bucket].append(np.frombuffer(packed.as_buffer(), np.int64))
        for (key, _), parts in held.items():
            whole = _sorted(parts)
            distinct = int(np.count_nonzero(whole[1:] != whole[:-1])) + (1 if len(whole) else 0)
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array([key], pa.int32()),
                    pa.array([len(whole)], pa.int64()),
                    pa.array([distinct], pa.int64()),
                ],
                names=["key", "rows", "distinct"],
            )

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
    """Pyspark lies in an archive here, which Python 3.11 reads again at the start of each task.

    It does so for every archive it remembers; one that is needed once more is found once more.
    """
    for path, finder in list(sys.path_importer_cache.items()):
        if type(finder).__name__ == "zipimporter":
            del sys.path_importer_cache[path]
