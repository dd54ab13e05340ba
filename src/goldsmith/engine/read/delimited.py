"""Read csv and tsv files: values are matched to columns by the names in each file's header."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING

from goldsmith.engine.names import literal, name
from goldsmith.engine.read.csv_values import CsvValues
from goldsmith.engine.read.errors import BadSchema, DuplicateColumns
from goldsmith.engine.read.exact import without_zeros
from goldsmith.engine.read.file_sniffing import (
    WIDE,
    encoding_of,
    first_records,
    has_header,
    is_rfc_4180,
    quote_of,
    separator_of,
)
from goldsmith.engine.read.json_records import VALUE, encoding_name, lenient, text_of
from goldsmith.engine.read.malformed import REASON, TEXT, all_columns_needed, misfits
from goldsmith.engine.read.quoting import Layout, Quoting, layouts
from goldsmith.engine.read.reading import CORRUPT, Reading
from goldsmith.engine.read.source_file import SOURCE_FILE, source_file
from goldsmith.engine.read.widening import doubled, union_of
from goldsmith.storage.files import ListedFile

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

#: Spark's column names for a file without a header.
_NUMBERED = re.compile(r"_c\d+")
_QUOTES = literal("a quote in it is not closed, or stands inside a value")
_NUL = literal("it has a NUL character")
_BREAK = literal("it has a line break outside quotes that does not end a record")

Groups = Mapping[tuple[str, ...], list[ListedFile]]


def infer(reading: Reading) -> StructType:
    """The columns of all headers; STRING, unless `inferSchema` is on."""
    from pyspark.sql.types import StringType, StructField, StructType

    seen: list[StructType] = []
    for names, files in _by_header(reading, None).items():
        types: list[DataType] = [StringType() for _ in names]
        if reading.options.is_on("inferSchema"):
            types = [field.dataType for field in _reader_schema(reading, files, names).fields]
        pairs = zip(names, types, strict=False)
        seen.append(StructType([StructField(column, type_) for column, type_ in pairs]))
    return union_of(seen, source=reading.source.source_id, loose=True)


def _reader_schema(reading: Reading, files: list[ListedFile], names: tuple[str, ...]) -> StructType:
    by_lines = set(_by_layout(reading, names, files)) == {Layout.LINES}
    layout = Layout.LINES if by_lines else Layout.RECORDS
    return reading.reader(**_ours(reading, layout)).csv(reading.addresses(files)).schema


def read(reading: Reading, schema: StructType) -> DataFrame:
    """Rows and malformed records of all files, in the columns of a schema."""
    parts = [
        _cut(reading, names, some, schema)
        if layout is Layout.MIXED
        else _part(reading, names, some, schema, layout)
        for names, files in _by_header(reading, schema).items()
        for layout, some in _by_layout(reading, names, files).items()
    ]
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)


def _by_layout(
    reading: Reading, names: tuple[str, ...], files: list[ListedFile]
) -> dict[Layout, list[ListedFile]]:
    """Group files by the layout that their quotes allow."""
    quoting = Quoting.of(reading, len(names))
    if quoting is None:
        return {Layout.LINES: files}
    groups: dict[Layout, list[ListedFile]] = {}
    for file, layout in zip(files, layouts(reading, files, quoting), strict=True):
        groups.setdefault(layout, []).append(file)
    return groups


def _ours(reading: Reading, layout: Layout) -> dict[str, object]:
    """Options of Spark's reader that the source leaves open."""
    ours: dict[str, object] = {"header": has_header(reading)}
    if reading.format == "tsv" and reading.options.get("sep", "delimiter") is None:
        ours["sep"] = "\t"
    elif (reading.options.get("sep", "delimiter") or "").startswith(("\\u", "\\x")):
        ours["sep"] = separator_of(reading)  # Spark knows fewer escapes
    if is_rfc_4180(reading):
        ours["multiLine"] = layout is not Layout.LINES
        ours["escape"] = quote_of(reading) or "\\"
    # In these encodings a line break is not one byte: Spark has to read the whole file.
    if encoding_of(reading).startswith(WIDE):
        ours["multiLine"] = True
    return ours


def _by_header(reading: Reading, schema: StructType | None) -> Groups:
    """Group files by their columns and column order."""
    if schema is not None and _goes_by_position(reading, schema):
        return {tuple(schema.names): list(reading.files)}
    groups: dict[tuple[str, ...], list[ListedFile]] = {}
    for file, record in zip(reading.files, first_records(reading), strict=True):
        if record is not None:
            groups.setdefault(_names(reading, file, record), []).append(file)
    if schema is not None and has_header(reading):
        _refuse_unrelated_headers(reading, groups, schema)
    return groups or {tuple(schema.names if schema is not None else ()): list(reading.files)}


def _goes_by_position(reading: Reading, schema: StructType) -> bool:
    if has_header(reading):
        return reading.options.is_on("enforceSchema")
    return not all(_NUMBERED.fullmatch(column) for column in schema.names)


def _names(reading: Reading, file: ListedFile, record: tuple[str, ...]) -> tuple[str, ...]:
    if not has_header(reading):
        return tuple(f"_c{index}" for index in range(len(record)))
    names = tuple(value or f"_c{index}" for index, value in enumerate(record))
    if twice := doubled(names):
        raise DuplicateColumns(place=f"The header of {file.path}", columns=twice)
    return names


def _refuse_unrelated_headers(reading: Reading, groups: Groups, schema: StructType) -> None:
    """Raise if a header shares no name with the schema: it is no header, or of other data."""
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
    reading: Reading,
    names: tuple[str, ...],
    files: list[ListedFile],
    schema: StructType,
    layout: Layout,
) -> DataFrame:
    """The rows of files with the same header and well-formed quotes."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    values = CsvValues(_typed(names, schema), reading.options)
    here = values.read
    ours = _ours(reading, layout)
    options = {**ours, "columnNameOfCorruptRecord": CORRUPT, "mode": "PERMISSIVE"}
    # Spark refuses a query that selects only the corrupt records.
    columns = here.fields or [StructField("_none", StringType())]
    raw = (
        reading.reader(**options)
        .schema(StructType([*columns, StructField(CORRUPT, StringType())]))
        .csv(reading.addresses(files))
    )
    text, reason = F.col(CORRUPT), F.expr(_reason(reading, here, CORRUPT))
    changed = values.reason(lambda column: F.col(name(column)))
    if changed is not None:
        text = F.coalesce(text, F.when(changed.isNotNull(), _written(reading, here)))
        reason = F.coalesce(reason, changed)
    return all_columns_needed(raw).select(
        *_chosen(names, schema, lambda column: values.value(column, F.col(name(column)))),
        *reading.partitions(raw, [field.name for field in columns]),
        source_file(raw, files, reading.storage),
        text.alias(TEXT),
        reason.alias(REASON),
    )


def _written(reading: Reading, here: StructType) -> Column:
    """The text of a record, rebuilt: Spark has the original only of records it refuses."""
    from pyspark.sql import functions as F

    csv_options = {"sep": separator_of(reading), "quote": quote_of(reading) or "\0"}
    values = [
        without_zeros(F.col(name(field.name))).alias(field.name)
        if field.dataType.simpleString().startswith("decimal")
        else F.col(name(field.name))
        for field in here.fields
    ]
    return F.to_csv(F.struct(*values), csv_options)


def _typed(names: tuple[str, ...], schema: StructType) -> StructType:
    """The columns of a file with the types of a schema; STRING for columns it lacks."""
    from pyspark.sql.types import StringType, StructField, StructType

    known = {field.name.lower(): field for field in schema.fields}
    text = StructField("", StringType())
    found = {n: known.get(n.lower(), text) for n in names}
    return StructType([StructField(n, f.dataType, metadata=f.metadata) for n, f in found.items()])


def _chosen(
    names: tuple[str, ...], schema: StructType, column: Callable[[str], Column]
) -> list[Column]:
    """The columns of a schema; NULL for columns that the file lacks."""
    from pyspark.sql import functions as F

    spelt = {n.lower(): n for n in names}
    return [
        column(spelt[field.name.lower()]).alias(field.name)
        if field.name.lower() in spelt
        else F.lit(None).cast(field.dataType).alias(field.name)
        for field in schema.fields
    ]


def _cut(
    reading: Reading, names: tuple[str, ...], files: list[ListedFile], schema: StructType
) -> DataFrame:
    """The rows of files with the same header and broken quotes, split into records here."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    quoting = Quoting.of(reading, len(names))
    assert quoting is not None  # without it the layout is LINES
    values = CsvValues(_typed(names, schema), reading.options)
    here = values.read
    whole = StructType([StructField(VALUE, StringType())])
    raw = reading.reader(wholetext=True).format("text").schema(whole)
    loaded = raw.load(reading.addresses(files))
    folders = reading.partitions(loaded, [VALUE])
    with lenient(reading):
        texts = loaded.select(
            text_of(reading).alias("text"),
            *([F.struct(*folders).alias("folders")] if folders else []),
            source_file(loaded, files, reading.storage),
        )
    records = F.when(
        F.col("text").contains("\r") & F.col("text").rlike(quoting.ends_by_cr),
        F.regexp_extract_all("text", F.lit(quoting.records(by_cr=True)), F.lit(1)),
    ).otherwise(F.regexp_extract_all("text", F.lit(quoting.records(by_cr=False)), F.lit(1)))
    blank = "^" if quoting.blank_is_record else r"^[\x00-\x20]*+"
    records = F.filter(records, lambda record: ~record.rlike(f"{blank}\\z"))
    if quoting.comment:
        comment = quoting.comment
        records = F.filter(records, lambda record: ~record.startswith(comment))
    if has_header(reading):
        # Used several times below: in a column of its own it is computed once.
        texts, records = texts.select("*", records.alias("records")), F.col("records")
        # A first line that goes on after a carriage return may be a header and a record.
        goes_on = _has_break(F.get(records, F.lit(0)), quoting)
        after = F.slice(records, 2, F.greatest(F.size(records) - 1, F.lit(0)))
        records = F.when(goes_on, records).otherwise(after)
    # With explode Spark would compute the size first, and so split every text twice.
    rows = texts.select("*", F.posexplode_outer(records).alias("index", "record"))
    rows = rows.where("index IS NOT NULL")
    unknown = F.col("record").contains("\ufffd")
    if encoding_of(reading) == "utf-8":
        unknown &= ~F.is_valid_utf8("text")
    no_text = literal(f"it is not valid {encoding_name(reading)}")
    is_record = F.col("record").rlike(f"^{quoting.record}\\z")
    wrong = (
        F.when(unknown, F.expr(no_text))
        .when(F.col("record").contains("\0"), F.expr(_NUL))
        .when(_has_break(F.col("record"), quoting), F.expr(_BREAK))
        .when(~is_record, F.expr(_QUOTES))
    )
    columns = ", ".join(
        f"{name(field.name)} {field.dataType.simpleString()}"
        for field in [*here.fields, StructField(CORRUPT, StringType())]
    )
    ours = {**_ours(reading, Layout.RECORDS), "columnNameOfCorruptRecord": CORRUPT}
    options = reading.options.but({**ours, "mode": "PERMISSIVE"}).for_spark(reading.storage)
    parsed = rows.select(
        "*", wrong.alias("wrong"), F.from_csv("record", columns, options).alias("parsed")
    )
    changed = values.reason(lambda column: F.col("parsed")[column])
    none = F.lit(None).cast("string")
    changed = none if changed is None else changed
    is_wrong = F.col("wrong").isNotNull() | changed.isNotNull()
    text = F.when(is_wrong, F.col("record")).otherwise(F.col("parsed")[CORRUPT])
    reason = _reason(reading, here, f"parsed.{CORRUPT}", "parsed")
    return parsed.select(
        *_chosen(names, schema, lambda column: values.value(column, F.col("parsed")[column])),
        *(F.col("folders")[column] for column in loaded.columns if column != VALUE),
        SOURCE_FILE,
        text.alias(TEXT),
        F.coalesce(F.col("wrong"), F.expr(reason), changed).alias(REASON),
    )


def _has_break(record: Column, quoting: Quoting) -> Column:
    """Whether a record is well-formed but for line breaks outside quotes."""
    return (
        record.rlike(r"[\r\n]")
        & ~record.rlike(f"^{quoting.record}\\z")
        & record.rlike(f"^{quoting.with_breaks}\\z")
    )


def _reason(reading: Reading, here: StructType, text: str, record: str | None = None) -> str:
    """SQL for why a record is malformed: another number of values, or values that do not fit."""
    count = literal(f"it has not {len(here.fields)} values, one for each column")
    if all(field.dataType.simpleString() == "string" for field in here.fields):
        return f"CASE WHEN {text} IS NOT NULL THEN {count} END"
    options = reading.options.but({**_ours(reading, Layout.RECORDS), "mode": "PERMISSIVE"})
    options_sql = ", ".join(
        f"{literal(key)}, {literal(value)}"
        for key, value in options.for_spark(reading.storage).items()
        if key.lower() != "columnnameofcorruptrecord"
    )
    texts = ", ".join(f"{name(field.name)} STRING" for field in here.fields)
    raw = f"from_csv({text}, {literal(texts)}, map({options_sql}))"
    wrong = misfits(here, raw, lambda column: f"raw.{name(column)}", record)
    return f"CASE WHEN {text} IS NOT NULL THEN coalesce(nullif({wrong}, ''), {count}) END"
