"""What single tasks do: read their part of the files, and tell what they found in a few rows.

This file travels to the workers as it is: it imports what they have.
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

from goldsmith.checks.native.hashing import hashes
from goldsmith.checks.native.kernel import (
    Batch,
    columns_of,
    measure,
    often_matched,
    without_nulls,
)
from goldsmith.checks.native.order import STRAYS, InOrder, Run, Strays, follow
from goldsmith.checks.native.reading import batches, complete

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_SPARKS = {pa.int32(): "int", pa.int64(): "long", pa.binary(): "binary"}
_RUN = {"field": pa.int32(), "low": pa.int64(), "high": pa.int64(), "rows": pa.int64()}
#: What is told of the keys of a part of the files: the hashes of one bucket, or the bounds of one
#: column, where the bucket is the number of the part.
_PACKED = {"key": pa.int32(), "bucket": pa.int32(), "hashes": pa.binary(), **_RUN}
#: The same, with the hashes counted.
_COUNTED = {"key": pa.int32(), "bucket": pa.int32(), **_RUN, "distinct": pa.int64()}
PACKED, COUNTED = (
    ", ".join(f"{name} {_SPARKS[type_]}" for name, type_ in one.items())
    for one in (_PACKED, _COUNTED)
)


def measuring(stored: Any, wanted: Mapping[str, pa.DataType], asked: Any) -> Task:
    """Measure aggregates of each part of the files."""
    parts, known_as, s3 = stored
    # A value that occurs again does so rather among many.
    many = bool(often_matched(asked))

    def run(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in _all(numbers):
            # What the footers know of NULLs need not be read, and is often all that is asked.
            full = complete(parts[number], wanted, known_as, s3)
            simpler = [without_nulls(aggregate, full) for aggregate in asked]
            names = {name for _, name in columns_of(simpler)}
            types = {name: type_ for name, type_ in wanted.items() if name in names}
            rows = batches(parts[number], types, known_as, s3, many_at_once=many)
            found = measure(rows, simpler)
            yield pa.RecordBatch.from_pydict({"found": [json.dumps(found)]})

    return run


def packing(
    stored: Any,
    wanted: Mapping[str, pa.DataType],
    asked: Any,
    bits: int,
    in_order: bool,
    has_strays: bool,
) -> Task:
    """Look at the keys of each part of the files, of which the last may be that of the strays.

    Of a key that comes in order its bounds are told, if `in_order` asks for that; of any other
    sorted lists of hashes, one for each bucket.
    """
    parts, known_as, s3 = stored
    half = 1 << bits >> 1
    edges = np.arange(1 - half, half, dtype=np.int64) << np.int64(64 - bits)

    def read(number: int, names: set[str], *, to_the_end: bool = True) -> Iterator[Batch]:
        types = {name: type_ for name, type_ in wanted.items() if name in names}
        found = batches(parts[number], types, known_as, s3, to_the_end=to_the_end)
        return map(Batch, found)

    def runs_of(number: int) -> dict[int, list[Run]]:
        """Those of the keys that come in order in a part, or are told apart there."""
        strays: dict[int, Strays] = {}
        if has_strays:
            names = set().union(*(InOrder(key).looks_at for key in asked))
            few = list(read(len(parts) - 1, names))
            strays = {place: Strays.of(key, few) for place, key in enumerate(asked)}
        if has_strays and number == len(parts) - 1:
            return {place: one.runs for place, one in strays.items() if one.holds}
        keys = {place: InOrder(key, strays.get(place)) for place, key in enumerate(asked)}
        glance = partial(read, number, to_the_end=False)
        return {place: key.runs for place, key in follow(keys, glance).items()}

    def run(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in _all(numbers):
            left = set(range(len(asked)))
            name = STRAYS if has_strays and number == len(parts) - 1 else number
            for place, runs in runs_of(number).items() if in_order else ():
                left.discard(place)
                yield _told({"key": place, "bucket": name, **one._asdict()} for one in runs)
            found: dict[int, list[Any]] = {place: [] for place in sorted(left)}
            names = {name for place in left for _, name in columns_of(asked[place])}
            for batch in read(number, names) if left else ():
                for place, lists in found.items():
                    part, *columns = asked[place]
                    if batch.count(part):
                        own = hashes([batch.array(column) for column in columns])
                        lists.append(_taken(own, batch, part))
            for place, lists in found.items():
                if lists:
                    whole = _sorted(lists)
                    buckets = np.split(whole, np.searchsorted(whole, edges))
                    yield _told(
                        {"key": place, "bucket": bucket, "hashes": own.data.cast("B")}
                        for bucket, own in enumerate(buckets)
                    )

    return run


def _taken(own: Any, batch: Batch, part: Any) -> Any:
    taken = batch.value(part)
    if isinstance(taken, pa.Scalar):  # all: there are some
        return own
    return own[np.asarray(taken.fill_null(False))]


def _told(rows: Iterable[Mapping[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), pa.schema(_PACKED))


def merging() -> Task:
    """Count the different hashes of each bucket; what else is told stays as it is."""

    def run(told: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _forget_archives()
        counted: list[dict[str, Any]] = []
        held: dict[tuple[int, int], list[Any]] = defaultdict(list)
        for rows in told:
            lists = rows.column("hashes")
            for row, packed in zip(rows.drop_columns(["hashes"]).to_pylist(), lists, strict=True):
                if packed.is_valid:
                    own = np.frombuffer(packed.as_buffer(), np.int64)
                    held[row["key"], row["bucket"]].append(own)
                else:
                    counted.append(row)
        for (key, bucket), parts in held.items():
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
    """Pyspark lies in an archive here, which Python 3.11 reads again at the start of each task.

    It does so for every archive it remembers; one that is needed once more is found once more.
    """
    for path, finder in list(sys.path_importer_cache.items()):
        if type(finder).__name__ == "zipimporter":
            del sys.path_importer_cache[path]
