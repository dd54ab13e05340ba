"""Read parts of Parquet files with Arrow, with the column names and types of the table.

This module is pickled by value to the Python workers: it imports only what they have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_ROWS_AT_ONCE = 1 << 17
#: The batch size with `many_at_once`: so many rows, if their columns have at most so many bytes.
_MANY_AT_ONCE = 1 << 20
_BYTES_AT_ONCE = 128 << 20
#: The read buffer for readers that may stop early.
_BUFFER = 1 << 18
_ID = b"PARQUET:field_id"


Range = tuple[str, int, int]


def batches(
    part: Sequence[Range],
    wanted: Mapping[str, pa.DataType],
    known_as: Mapping[str, tuple[int | None, Sequence[str]]],
    s3: Mapping[str, Any],
    *,
    many_at_once: bool = False,
    to_the_end: bool = True,
) -> Iterator[pa.RecordBatch]:
    """The rows of parts of files, with the wanted columns and no others."""
    for file_range in part:
        yield from _batches(file_range, wanted, known_as, s3, many_at_once, to_the_end)


def _batches(
    part: Range,
    wanted: Mapping[str, pa.DataType],
    known_as: Mapping[str, tuple[int | None, Sequence[str]]],
    s3: Mapping[str, Any],
    many_at_once: bool,
    to_the_end: bool,
) -> Iterator[pa.RecordBatch]:
    path, start, end = part
    buffer = 0 if to_the_end else _BUFFER
    with _opened(path, s3, buffer) as parquet:
        groups = [
            number
            for number in range(parquet.metadata.num_row_groups)
            if start <= _middle(parquet.metadata.row_group(number)) < end
        ]
        fields = _found(parquet.schema_arrow, wanted, known_as)
        read = sorted({name for name in fields.values() if name})
        if not groups:
            return
        if not read:
            for number in groups:  # the footer knows how many rows there are
                rows = pa.nulls(parquet.metadata.row_group(number).num_rows)
                columns = [pa.nulls(len(rows), type_) for type_ in wanted.values()]
                yield pa.RecordBatch.from_arrays(columns or [rows], names=list(wanted) or [""])
            return
        at_once = _ROWS_AT_ONCE
        if many_at_once:
            at_once = max(at_once, min(_MANY_AT_ONCE, _rows_of_bytes(parquet, groups, read)))
        for rows in parquet.iter_batches(at_once, groups, read, use_threads=False):
            yield pa.RecordBatch.from_arrays(
                [_typed(rows, fields.get(name), type_) for name, type_ in wanted.items()],
                names=list(wanted),
            )


def complete(
    part: Sequence[Range],
    wanted: Mapping[str, pa.DataType],
    known_as: Mapping[str, tuple[int | None, Sequence[str]]],
    s3: Mapping[str, Any],
) -> set[str]:
    """The columns that have no NULLs, by the statistics in the files' footers."""
    found = set(wanted)
    for path, start, end in part:
        with _opened(path, s3) as parquet:
            fields = _found(parquet.schema_arrow, wanted, known_as)
            for group in map(parquet.metadata.row_group, range(parquet.metadata.num_row_groups)):
                if start <= _middle(group) < end:
                    chunks = [group.column(index) for index in range(group.num_columns)]
                    # A column called `a.b` and the field b of a column a have the same path.
                    holes = {c.path_in_schema for c in chunks if not _has_no_null(c.statistics)}
                    full = {c.path_in_schema for c in chunks} - holes
                    found &= {name for name in found if fields[name] in full}
    return found


def _has_no_null(statistics: Any) -> bool:
    return statistics is not None and statistics.has_null_count and statistics.null_count == 0


def _rows_of_bytes(parquet: pq.ParquetFile, groups: Sequence[int], read: Sequence[str]) -> int:
    """How many rows of these columns have `_BYTES_AT_ONCE` bytes."""
    found = [parquet.metadata.row_group(number) for number in groups]
    size = sum(
        group.column(index).total_uncompressed_size
        for group in found
        for index in range(group.num_columns)
        if group.column(index).path_in_schema.split(".")[0] in read
    )
    return int(_BYTES_AT_ONCE * sum(group.num_rows for group in found) // max(size, 1))


@contextmanager
def _opened(path: str, s3: Mapping[str, Any], buffer: int = 0) -> Iterator[pq.ParquetFile]:
    from pyarrow import fs

    system, name = fs.LocalFileSystem(), path.removeprefix("file://").removeprefix("file:")
    if path.startswith(("s3://", "s3a://")):
        system, name = fs.S3FileSystem(**s3), path.partition("://")[2]
    # Arrow reads INT96 timestamps as nanoseconds by default, which overflow for distant years.
    with (
        system.open_input_file(name) as file,
        pq.ParquetFile(file, buffer_size=buffer, coerce_int96_timestamp_unit="us") as parquet,
    ):
        yield parquet


def _middle(group: Any) -> int:
    first = group.column(0)
    at = first.data_page_offset
    if first.has_dictionary_page:
        at = min(at, first.dictionary_page_offset)
    size = sum(group.column(number).total_compressed_size for number in range(group.num_columns))
    return int(at + size // 2)


def _found(
    schema: pa.Schema,
    wanted: Mapping[str, pa.DataType],
    known_as: Mapping[str, tuple[int | None, Sequence[str]]],
) -> dict[str, str | None]:
    """The name in the file of each wanted column; None where the file was written without it."""
    ids = {int(field.metadata[_ID]): field.name for field in schema if _id_of(field)}
    found: dict[str, str | None] = {}
    for name in wanted:
        number, names = known_as[name]
        if ids and number is not None:
            found[name] = ids.get(number)
        else:
            found[name] = next((alias for alias in names if alias in schema.names), None)
    return found


def _id_of(field: pa.Field) -> bool:
    return field.metadata is not None and _ID in field.metadata


def _typed(rows: pa.RecordBatch, name: str | None, type_: pa.DataType) -> pa.Array:
    if name is None:
        return pa.nulls(rows.num_rows, type_)
    column = rows.column(name)
    return column if column.type == type_ else column.cast(type_)
