"""Read the records of a file into Arrow tables of the raw schema; refuse what does not fit it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from goldsmith.errors import GoldsmithError
from goldsmith.lakehouse.raw_tables import COLUMNS

#: Records are written in tables of about this many bytes; it bounds the memory of a load.
_CHUNK_BYTES = 64 * 2**20
_BATCH_ROWS = 1024
#: The first millisecond of the year 9999.
_LATEST = 253_370_764_800_000
SCHEMA = pa.schema(
    [
        pa.field(name, pa.int64() if name == "extracted_at" else pa.string(), nullable=not required)
        for name, required in COLUMNS.items()
    ]
)


@dataclass(eq=False, kw_only=True)
class BadRecords(GoldsmithError):
    """A file of a load holds something that is no raw record; nothing of the load was stored."""

    exit_code = 1

    file: str
    problem: str

    def __str__(self) -> str:
        return f"{self.file}: {self.problem} Nothing was loaded."

    @property
    def hint(self) -> str:
        return "Write the file again and submit the load again. See docs/lakehouse.md."


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordRules:
    """What every record of a load must keep to."""

    tenant: str
    largest_record: int


def read(name: str, file: IO[bytes], rules: RecordRules) -> Iterator[pa.Table]:
    """The records of an open file, in tables of bounded size."""
    if name.endswith(".parquet"):
        batches = _parquet(name, file)
    elif name.endswith((".jsonl", ".json", ".ndjson")):
        batches = _json_lines(name, file, rules)
    else:
        raise BadRecords(file=name, problem="it is neither .parquet nor .jsonl.")
    waiting: list[pa.RecordBatch] = []
    first = 0
    for batch in batches:
        _check(name, batch, first, rules)
        first += batch.num_rows
        waiting.append(batch)
        if sum(each.nbytes for each in waiting) >= _CHUNK_BYTES:
            yield pa.Table.from_batches(waiting, SCHEMA)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting, SCHEMA)


def _parquet(name: str, file: IO[bytes]) -> Iterator[pa.RecordBatch]:
    try:
        opened = pq.ParquetFile(file)
        _check_columns(name, opened.schema_arrow.names)
        for batch in opened.iter_batches(batch_size=_BATCH_ROWS):
            if batch.num_rows:
                yield pa.RecordBatch.from_arrays(
                    [_column(name, batch, field) for field in SCHEMA], schema=SCHEMA
                )
    except (pa.ArrowException, OSError) as error:
        cause = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise BadRecords(file=name, problem=f"it cannot be read as Parquet: {cause}.") from error


def _check_columns(name: str, found: list[str]) -> None:
    required = {column for column, is_required in COLUMNS.items() if is_required}
    if missing := sorted(required - set(found)):
        raise BadRecords(file=name, problem=f"it has no column {missing[0]}.")
    if unknown := sorted(set(found) - COLUMNS.keys()):
        raise BadRecords(file=name, problem=f"it has an unknown column {unknown[0][:100]}.")
    if len(found) != len(set(found)):
        raise BadRecords(file=name, problem="it has a column twice.")


def _column(name: str, batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    if field.name not in batch.schema.names:
        return pa.nulls(batch.num_rows, field.type)
    column = batch.column(field.name)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    is_whole = field.name == "extracted_at"
    is_right = (
        pa.types.is_integer(kind)
        if is_whole
        else pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()
    )
    if not (is_right or (field.nullable and pa.types.is_null(kind))):
        expected = "whole numbers" if is_whole else "text"
        raise BadRecords(file=name, problem=f"its column {field.name} is {kind}, not {expected}.")
    return column.cast(field.type)


def _json_lines(name: str, file: IO[bytes], rules: RecordRules) -> Iterator[pa.RecordBatch]:
    # A record is escaped once more inside its line.
    longest = 6 * rules.largest_record + 65_536
    rows: list[Mapping[str, Any]] = []
    size = number = 0
    # Streams of pyarrow read no lines.
    lines = io.BufferedReader(file, 2**20)  # type: ignore[type-var]
    while line := lines.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise BadRecords(file=name, problem=f"line {number:,} has over {longest:,} bytes.")
        if not line.strip():
            continue
        rows.append(_row(name, line, number))
        size += len(line)
        if len(rows) >= _BATCH_ROWS or size >= _CHUNK_BYTES:
            yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
            rows, size = [], 0
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def _row(name: str, line: bytes, number: int) -> Mapping[str, Any]:
    try:
        row = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        problem = f"line {number:,} is not JSON: {str(error)[:200]}."
        raise BadRecords(file=name, problem=problem) from None
    if not isinstance(row, dict):
        raise BadRecords(file=name, problem=f"line {number:,} is no JSON object.")
    if row.keys() != COLUMNS.keys():
        _check_columns(f"{name}, line {number:,}", list(row))
    for column, value in row.items():
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        is_right = is_whole if column == "extracted_at" else isinstance(value, str)
        if not is_right and value is not None:
            expected = "a whole number" if column == "extracted_at" else "text"
            problem = f"{column} of line {number:,} is not {expected}."
            raise BadRecords(file=name, problem=problem)
        if isinstance(value, str) and not _is_unicode(value):
            problem = f"{column} of line {number:,} has half a surrogate pair."
            raise BadRecords(file=name, problem=problem)
        if is_whole and not 0 <= value < _LATEST:
            problem = f"extracted_at of line {number:,} is no time in milliseconds."
            raise BadRecords(file=name, problem=problem)
    return row


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _check(name: str, batch: pa.RecordBatch, first: int, rules: RecordRules) -> None:
    """Raise BadRecords for the first row that is no raw record of the tenant."""
    for field in SCHEMA:
        column = batch.column(field.name)
        if not field.nullable and column.null_count:
            row = first + pc.index(pc.is_null(column), True).as_py() + 1
            raise BadRecords(file=name, problem=f"{field.name} of record {row:,} is empty.")
    times = pc.min_max(batch.column("extracted_at"))
    if times["min"].as_py() < 0 or times["max"].as_py() >= _LATEST:
        raise BadRecords(file=name, problem="an extracted_at is no time in milliseconds.")
    foreign = pc.index(pc.not_equal(batch.column("tenant_id"), rules.tenant), True).as_py()
    if foreign >= 0:
        problem = f"record {first + foreign + 1:,} belongs to another tenant."
        raise BadRecords(file=name, problem=problem)
    for number, record in enumerate(batch.column("raw_record"), first + 1):
        text = record.as_py()
        if len(text) > rules.largest_record or len(text.encode()) > rules.largest_record:
            problem = f"raw_record {number:,} is larger than {rules.largest_record:,} bytes."
            raise BadRecords(file=name, problem=problem)
        try:
            parsed = json.loads(text, parse_constant=_no_constant, parse_int=str)
        except (ValueError, RecursionError) as error:
            problem = f"raw_record {number:,} is not JSON: {str(error)[:200]}."
            raise BadRecords(file=name, problem=problem) from None
        if not isinstance(parsed, dict):
            raise BadRecords(file=name, problem=f"raw_record {number:,} is no JSON object.")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
