"""The files of the Redshift stand-in: Parquet in S3 for COPY and from UNLOAD."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from pyarrow import fs

from servers.s3 import S3

_BATCH_ROWS = 65536
_NUMERIC, _JSON = 1700, (3802, 114)
_TYPES = {
    16: pa.bool_(),
    17: pa.string(),
    20: pa.int64(),
    21: pa.int16(),
    23: pa.int32(),
    700: pa.float32(),
    701: pa.float64(),
    1082: pa.date32(),
    1114: pa.timestamp("us"),
    1184: pa.timestamp("us", "UTC"),
}
_BYTEA = 17


def copy_batches(
    s3: S3, address: str, options: str, width: int
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Each file of a COPY and its rows as CSV."""
    system = s3.file_system()
    for path in _paths(system, address, options):
        with system.open_input_file(path) as file:
            parquet = pq.ParquetFile(file, coerce_int96_timestamp_unit="us")
            types = parquet.schema_arrow.types
            if len(types) != width:
                raise ValueError(
                    "Unmatched number of columns between table and file. "
                    f"Table columns: {width}, Data columns: {len(types)}"
                )
            if any(pa.types.is_time(type_) for type_ in types):
                raise ValueError("COPY cannot load TIME from Parquet")
            if any(map(pa.types.is_nested, types)) and "SERIALIZETOJSON" not in options.upper():
                raise ValueError("Nested types need SERIALIZETOJSON")
            yield path, _csv(parquet)


def _paths(system: Any, address: str, options: str) -> list[str]:
    if not re.search(r"\bMANIFEST\b", options, re.I):
        folder = fs.FileSelector(address.rpartition("/")[0], recursive=True, allow_not_found=True)
        found = (info.path for info in system.get_file_info(folder) if info.is_file)
        return sorted(path for path in found if path.startswith(address))
    with system.open_input_stream(address) as file:
        entries = json.loads(file.read())["entries"]
    for entry in entries:
        path = entry["url"].removeprefix("s3://")
        if system.get_file_info(path).size != entry["meta"]["content_length"]:
            raise ValueError(f"The content_length of {path} in the manifest is wrong")
    return [entry["url"].removeprefix("s3://") for entry in entries]


def _csv(parquet: Any) -> Iterator[bytes]:
    options = pc.WriteOptions(include_header=False, quoting_style="all_valid")
    for batch in parquet.iter_batches(_BATCH_ROWS):
        arrays = [_plain(column) for column in batch.columns]
        names = [str(number) for number in range(len(arrays))]
        written = io.BytesIO()
        pc.write_csv(pa.RecordBatch.from_arrays(arrays, names=names), written, options)
        yield written.getvalue()


def _plain(column: Any) -> Any:
    if pa.types.is_nested(column.type):
        values = column.to_pylist(maps_as_pydicts="strict")
        return pa.array([None if v is None else json.dumps(v, default=str) for v in values])
    if pa.types.is_binary(column.type):
        return pa.array([None if v is None else "\\x" + v.hex() for v in column.to_pylist()])
    return column


def unload_table(
    s3: S3, address: str, options: str, columns: list[tuple[str, int, int]], rows: bytes
) -> None:
    """Write the rows of an UNLOAD, given as CSV."""
    system, folder = s3.file_system(), address.rstrip("/")
    if re.search(r"\bCLEANPATH\b", options, re.I):
        selected = fs.FileSelector(folder, recursive=True, allow_not_found=True)
        for info in system.get_file_info(selected):
            if info.is_file:
                system.delete_file(info.path)
    types = {name: _type(oid, modifier) for name, oid, modifier in columns}
    table = pa.schema(types.items()).empty_table()
    if rows:
        table = pc.read_csv(
            io.BytesIO(rows),
            pc.ReadOptions(column_names=list(types)),
            pc.ParseOptions(newlines_in_values=True),
            pc.ConvertOptions(
                column_types=types,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                true_values=["t"],
                false_values=["f"],
            ),
        )
    for number, (_name, oid, _) in enumerate(columns):
        if oid == _BYTEA:
            table = table.set_column(number, table.field(number).name, _bytes(table[number]))
    pq.write_table(table, f"{folder}/0000_part_00.parquet", filesystem=system)


def _bytes(column: Any) -> Any:
    values = (v if v is None else bytes.fromhex(v[2:]) for v in column.to_pylist())
    return pa.array(list(values), pa.binary())


def _type(oid: int, modifier: int) -> Any:
    if oid == _NUMERIC and modifier > 4:
        return pa.decimal128((modifier - 4) >> 16, (modifier - 4) & 0xFFFF)
    return _TYPES.get(oid, pa.string())
