"""Parts of Parquet files read by Arrow, their columns named and typed as the table has them.

This file travels to the workers as it is: it imports what they have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ROWS_AT_ONCE = 1 << 17
_ID = b"PARQUET:field_id"


def batches(
    part: tuple[str, int, int],
    wanted: Mapping[str, pa.DataType],
    known_as: Mapping[str, tuple[int | None, Sequence[str]]],
    s3: Mapping[str, Any],
    rows_at_once: int = ROWS_AT_ONCE,
) -> Iterator[pa.RecordBatch]:
    """The rows of part of a file, with the wanted columns and no others."""
    path, start, end = part
    with _opened(path, s3) as file, pq.ParquetFile(file) as parquet:
        groups = [
            number
            for number in range(parquet.metadata.num_row_groups)
            if start <= _middle(parquet.metadata.row_group(number)) < end
        ]
        fields = _found(parquet.schema_arrow, wanted, known_as)
        # Rows without columns have no number.
        read = sorted({name for name in fields.values() if name}) or parquet.schema_arrow.names[:1]
        if not groups:
            return
        for rows in parquet.iter_batches(rows_at_once, groups, read, use_threads=False):
            yield pa.RecordBatch.from_arrays(
                [_typed(rows, fields.get(name), type_) for name, type_ in wanted.items()]
                or rows.columns,
                names=list(wanted) or read,
            )


def _opened(path: str, s3: Mapping[str, Any]) -> Any:
    from pyarrow import fs

    if path.startswith(("s3://", "s3a://")):
        return fs.S3FileSystem(**s3).open_input_file(path.partition("://")[2])
    return fs.LocalFileSystem().open_input_file(path.removeprefix("file://").removeprefix("file:"))


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
            found[name] = next((one for one in names if one in schema.names), None)
    return found


def _id_of(field: pa.Field) -> bool:
    return field.metadata is not None and _ID in field.metadata


def _typed(rows: pa.RecordBatch, name: str | None, type_: pa.DataType) -> pa.Array:
    if name is None:
        return pa.nulls(rows.num_rows, type_)
    column = rows.column(name)
    return column if column.type == type_ else column.cast(type_)
