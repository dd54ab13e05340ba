"""csv and tsv: values go into columns by the names in each file's own header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import reduce
from typing import TYPE_CHECKING

from goldsmith.engine.names import literal, name
from goldsmith.engine.readers.errors import BadSchema, DuplicateColumns
from goldsmith.engine.readers.heads import encoding_of, first_records
from goldsmith.engine.readers.malformed import REASON, TEXT, all_columns_needed, misfits
from goldsmith.engine.readers.reading import CORRUPT, Reading
from goldsmith.engine.readers.source_file import source_file
from goldsmith.engine.readers.widening import doubled, union_of
from goldsmith.planning.files import FileSeen

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

#: What Spark calls the columns of a file without a header.
_NUMBERED = re.compile(r"_c\d+")
#: Encodings whose line breaks are not one byte: Spark has to read such a file as a whole.
_WIDE = ("utf-16", "utf-32")

Groups = Mapping[tuple[str, ...], list[FileSeen]]


def infer(reading: Reading) -> StructType:
    """The columns of all headers; texts, unless `inferSchema` asks for types."""
    from pyspark.sql.types import StringType, StructField, StructType

    seen: list[StructType] = []
    for names, files in _by_header(reading, None).items():
        types: list[DataType] = [StringType() for _ in names]
        if reading.options.is_on("inferSchema"):
            types = [field.dataType for field in _reader_schema(reading, files).fields]
        pairs = zip(names, types, strict=False)
        seen.append(StructType([StructField(column, type_) for column, type_ in pairs]))
    return union_of(seen, source=reading.source.source_id, loose=True)


def _reader_schema(reading: Reading, files: Iterable[FileSeen]) -> StructType:
    reader = reading.reader(**_ours(reading))
    return reader.csv(reading.addresses(files)).schema


def read(reading: Reading, schema: StructType) -> DataFrame:
    """Rows and malformed records of all files, in the columns of a schema."""
    groups = _by_header(reading, schema)
    parts = [_part(reading, names, files, schema) for names, files in groups.items()]
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)


def _ours(reading: Reading) -> dict[str, object]:
    ours: dict[str, object] = {"header": _has_header(reading)}
    if reading.format == "tsv" and reading.options.get("sep", "delimiter") is None:
        ours["sep"] = "\t"
    if encoding_of(reading).startswith(_WIDE):
        ours["multiLine"] = True
    return ours


def _has_header(reading: Reading) -> bool:
    return reading.options.is_on("header", default=True)


def _by_header(reading: Reading, schema: StructType | None) -> Groups:
    """Files that have the same columns in the same order, together."""
    if schema is not None and _goes_by_position(reading, schema):
        return {tuple(schema.names): list(reading.files)}
    groups: dict[tuple[str, ...], list[FileSeen]] = {}
    for file, record in zip(reading.files, first_records(reading), strict=True):
        if record is not None:
            groups.setdefault(_names(reading, file, record), []).append(file)
    if schema is not None and _has_header(reading):
        _refuse_strangers(reading, groups, schema)
    return groups or {tuple(schema.names if schema is not None else ()): list(reading.files)}


def _goes_by_position(reading: Reading, schema: StructType) -> bool:
    if _has_header(reading):
        return reading.options.is_on("enforceSchema")
    return not all(_NUMBERED.fullmatch(column) for column in schema.names)


def _names(reading: Reading, file: FileSeen, record: tuple[str, ...]) -> tuple[str, ...]:
    if not _has_header(reading):
        return tuple(f"_c{place}" for place in range(len(record)))
    names = tuple(value or f"_c{place}" for place, value in enumerate(record))
    if twice := doubled(names):
        raise DuplicateColumns(place=f"The header of {file.path}", columns=twice)
    return names


def _refuse_strangers(reading: Reading, groups: Groups, schema: StructType) -> None:
    """A header that shares no name with the schema is none, or is another dataset's."""
    known = {column.lower() for column in schema.names}
    for names, files in groups.items():
        if not known.intersection(column.lower() for column in names):
            raise BadSchema(
                place=f"source '{reading.source.source_id}'",
                cause=f"none of its columns is in the first line of {files[0].path}.",
                advice=(
                    "If the files have no header, set options.header to false; columns then go "
                    "by position. With a header they go by name, unless options.enforceSchema "
                    "is true."
                ),
            )


def _part(
    reading: Reading, names: tuple[str, ...], files: list[FileSeen], schema: StructType
) -> DataFrame:
    """The rows of files with one header."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    known = {field.name.lower(): field for field in schema.fields}
    types = {n: known[n.lower()].dataType for n in names if n.lower() in known}
    here = StructType([StructField(n, types.get(n, StringType())) for n in names])
    options = {**_ours(reading), "columnNameOfCorruptRecord": CORRUPT, "mode": reading.mode}
    # Spark refuses a query for nothing but the corrupt records.
    columns = here.fields or [StructField("_none", StringType())]
    raw = (
        reading.reader(**options)
        .schema(StructType([*columns, StructField(CORRUPT, StringType())]))
        .csv(reading.addresses(files))
    )
    spelt = {n.lower(): n for n in names}
    chosen: list[Column] = [
        F.col(name(spelt[field.name.lower()])).alias(field.name)
        if field.name.lower() in spelt
        else F.lit(None).cast(field.dataType).alias(field.name)
        for field in schema.fields
    ]
    return all_columns_needed(raw).select(
        *chosen,
        *reading.partitions(raw, [field.name for field in columns]),
        source_file(raw, files, reading.places),
        F.col(CORRUPT).alias(TEXT),
        F.expr(_reason(reading, here)).alias(REASON),
    )


def _reason(reading: Reading, here: StructType) -> str:
    """SQL for why a record is malformed: another number of values, or values that do not fit."""
    count = literal(f"it has not {len(here.fields)} values, one for each column")
    if all(field.dataType.simpleString() == "string" for field in here.fields):
        return f"CASE WHEN {CORRUPT} IS NOT NULL THEN {count} END"
    options = reading.options.but({**_ours(reading), "mode": "PERMISSIVE"})
    said = ", ".join(
        f"{literal(key)}, {literal(value)}"
        for key, value in options.for_spark(reading.places).items()
        if key.lower() != "columnnameofcorruptrecord"
    )
    texts = ", ".join(f"{name(field.name)} STRING" for field in here.fields)
    raw = f"from_csv({CORRUPT}, {literal(texts)}, map({said}))"
    wrong = misfits(here, raw, lambda column: f"raw.{name(column)}")
    return f"CASE WHEN {CORRUPT} IS NOT NULL THEN coalesce(nullif({wrong}, ''), {count}) END"
