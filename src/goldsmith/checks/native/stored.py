"""Where rows lie: Parquet files that hold a table's rows and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

#: What one task reads of a file.
_RANGE_BYTES = 64 << 20


class Range(NamedTuple):
    """Part of a file: the row groups whose middle lies in it."""

    path: str
    start: int
    end: int


class KnownAs(NamedTuple):
    """How files know a column: by its id, and those without ids by one of its names."""

    id: int | None
    names: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The files of some rows, all of whose rows are meant."""

    ranges: tuple[Range, ...]
    rows: int
    columns: Mapping[str, KnownAs]
    #: Files of a few rows that were taken out of the midst of the others, beside the ranges.
    strays: tuple[Range, ...] = ()
    #: How to reach s3:// addresses, in the words of pyarrow's S3FileSystem.
    s3: Mapping[str, object] = field(default_factory=dict, repr=False)

    @property
    def parts(self) -> tuple[tuple[Range, ...], ...]:
        """What single tasks look at: a range each, and the last at all strays."""
        return (*((one,) for one in self.ranges), *((self.strays,) if self.strays else ()))


def ranges_of(files: Iterable[tuple[str, int]]) -> tuple[Range, ...]:
    """Files, given with their sizes, cut into what single tasks read."""
    return tuple(
        Range(path, start, start + _RANGE_BYTES)
        for path, size in files
        for start in range(0, max(size, 1), _RANGE_BYTES)
    )
