"""The Parquet files that hold the rows of a table and no other rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

#: The bytes of a file that one task reads.
_RANGE_BYTES = 64 << 20


class Range(NamedTuple):
    """A byte range of a file: the row groups whose middle lies in it."""

    path: str
    start: int
    end: int


class ColumnStatistics(NamedTuple):
    """How to find a column in a file: by its field id, or in files without ids by its names."""

    id: int | None
    names: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class ParquetFiles:
    """The Parquet files of some rows; every row in the files counts."""

    ranges: tuple[Range, ...]
    rows: int
    columns: Mapping[str, ColumnStatistics]
    #: Files of the few rows that were removed from between the others; not in `ranges`.
    unsorted_files: tuple[Range, ...] = ()
    #: Arguments of pyarrow's S3FileSystem for s3:// paths.
    s3: Mapping[str, object] = field(default_factory=dict, repr=False)

    @property
    def parts(self) -> tuple[tuple[Range, ...], ...]:
        """The ranges of each task: one range, and in the last task all unsorted files."""
        return (
            *((file_range,) for file_range in self.ranges),
            *((self.unsorted_files,) if self.unsorted_files else ()),
        )


def ranges_of(files: Iterable[tuple[str, int]]) -> tuple[Range, ...]:
    """Split files, given with their sizes, into ranges for single tasks."""
    return tuple(
        Range(path, start, start + _RANGE_BYTES)
        for path, size in files
        for start in range(0, max(size, 1), _RANGE_BYTES)
    )
