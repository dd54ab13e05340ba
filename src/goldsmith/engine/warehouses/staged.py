"""Read staged Parquet with Arrow, for warehouses that cannot read it themselves."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from goldsmith.engine.warehouses.types import TypeNotLoadable, is_nested, is_variant
from goldsmith.engine.warehouses.warehouse import LoadColumn, LoadRefused
from goldsmith.storage.storage import Storage

_BATCH_ROWS = 65536


class Staged:
    """The Parquet files of one folder or s3:// prefix, or only some of them."""

    def __init__(self, storage: Storage, address: str, only: Sequence[str] | None = None) -> None:
        self.address = address
        self._system, self._root = file_system(storage, address)
        self.files = (
            self._list() if only is None else [file_system(storage, file)[1] for file in only]
        )

    def _list(self) -> list[str]:
        from pyarrow import fs

        everything = fs.FileSelector(self._root, recursive=True, allow_not_found=True)
        found = (info for info in self._system.get_file_info(everything) if info.is_file)
        # Such names are not data: _SUCCESS, the COPY manifest, checksums.
        return sorted(i.path for i in found if not i.base_name.startswith(("_", ".")))

    def schema(self) -> Any | None:
        """The Arrow schema of the first file; None if there are no files."""
        import pyarrow.parquet as pq

        if not self.files:
            return None
        with self._system.open_input_file(self.files[0]) as file:
            return pq.read_schema(file)

    def arrow_schema(self, columns: Sequence[LoadColumn]) -> Any:
        """The schema of the batches."""
        import pyarrow as pa

        return pa.schema([pa.field(c.name, _arrow_type(c.type)) for c in columns])

    def batches(self, columns: Sequence[LoadColumn]) -> Iterator[Any]:
        """The rows with these columns and types; nested values are JSON text."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        wanted = self.arrow_schema(columns)
        for path in self.files:
            # Spark may write timestamps as INT96, which Arrow reads as nanoseconds by default.
            with (
                self._system.open_input_file(path) as file,
                pq.ParquetFile(file, coerce_int96_timestamp_unit="us") as parquet,
            ):
                for batch in parquet.iter_batches(_BATCH_ROWS):
                    arrays = [
                        _fitted(_column(batch, column, path), column, wanted.field(number).type)
                        for number, column in enumerate(columns)
                    ]
                    yield pa.RecordBatch.from_arrays(arrays, schema=wanted)


def file_system(storage: Storage, address: str) -> tuple[Any, str]:
    """The Arrow file system of an address, and the path in it."""
    from pyarrow import fs

    if not address.startswith("s3://"):
        return fs.LocalFileSystem(), str(Path(address))
    storage_settings = storage.settings.storage
    options = {
        "endpoint_override": storage_settings.endpoint,
        "region": storage_settings.region,
        "access_key": storage.secret(storage_settings.access_key),
        "secret_key": storage.secret(storage_settings.secret_key),
        "force_virtual_addressing": not storage_settings.path_style,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return fs.S3FileSystem(**given), address.removeprefix("s3://").rstrip("/")


def _column(batch: Any, column: LoadColumn, path: str) -> Any:
    number = batch.schema.get_field_index(column.name)
    if number < 0:
        cause = f"the staged file {path} has no column '{column.name}'"
        raise LoadRefused(location=path, cause=cause)
    return batch.column(number)


def _fitted(values: Any, column: LoadColumn, wanted: Any) -> Any:
    """The values cast to the column's Arrow type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if is_variant(column.type) and not pa.types.is_string(values.type):
        raise TypeNotLoadable(column=column.name, type=column.type, warehouse="any warehouse")
    if is_nested(column.type) and not pa.types.is_string(values.type):
        plain = values.to_pylist(maps_as_pydicts="strict")
        return pa.array([None if v is None else as_json(v) for v in plain], pa.string())
    if column.type == "timestamp" and pa.types.is_timestamp(values.type) and not values.type.tz:
        return pc.assume_timezone(values, "UTC").cast(wanted)
    return values if values.type == wanted else values.cast(wanted)


def _arrow_type(type_: str) -> Any:
    import pyarrow as pa

    if is_nested(type_):
        return pa.string()
    if type_.startswith("decimal("):
        precision, scale = type_.removeprefix("decimal(").rstrip(")").split(",")
        return pa.decimal128(int(precision), int(scale))
    return {
        "boolean": pa.bool_(),
        "tinyint": pa.int8(),
        "smallint": pa.int16(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "binary": pa.binary(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", "UTC"),
        "timestamp_ntz": pa.timestamp("us"),
        "time": pa.time64("us"),
    }.get(type_.partition("(")[0], pa.string())


def as_json(value: Any) -> str:
    """A nested value as JSON, as Spark's to_json writes it; decimals keep every digit."""
    match value:
        case None:
            return "null"
        case dict():
            pairs = (f"{json.dumps(_key(key))}:{as_json(item)}" for key, item in value.items())
            return "{" + ",".join(pairs) + "}"
        case list() | tuple():
            return "[" + ",".join(as_json(item) for item in value) + "]"
        case float() if not math.isfinite(value):
            # JSON has no NaN or Infinity.
            return json.dumps("NaN" if math.isnan(value) else f"{'-' * (value < 0)}Infinity")
        case bool() | int() | float() | str():
            return json.dumps(value, ensure_ascii=False)
        case Decimal():
            return format(value, "f")
        case bytes():
            return json.dumps(base64.b64encode(value).decode())
        case _:
            return json.dumps(_key(value))


def _key(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date | datetime | time) else str(value)
