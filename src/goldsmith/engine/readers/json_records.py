"""json and jsonl: documents, and lines that are a record each.

Spark reads one JSON value of a file or line and is silent about whatever follows it. So every text
is wrapped in an object of ours, in which nothing can follow a value unnoticed. A document stands or
falls as a whole. Spark's own reader of lines is quicker and stays for sources whose rows say
`check_lines: false`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import reduce
from typing import TYPE_CHECKING, Any

from goldsmith.engine.names import literal, name
from goldsmith.engine.readers.heads import JsonShape, encoding_of, json_shapes
from goldsmith.engine.readers.malformed import REASON, TEXT, all_columns_needed, misfits
from goldsmith.engine.readers.reading import CORRUPT, Reading
from goldsmith.engine.readers.source_file import source_file
from goldsmith.engine.readers.widening import union_of
from goldsmith.planning.files import FileSeen

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader
    from pyspark.sql.types import StructType

_BROKEN = literal("it is not valid JSON")
_CROWDED = "it is not one JSON value: something follows the first in the same {}"
_MISFIT = literal("a value in it does not fit the type of its column")
_SPACE = " \t\r\n"
#: SQL for the text of a record that is none; other programs cannot read bytes that are no text.
_KEPT = (
    "CASE WHEN record IS NULL"
    f" THEN IF(broken, make_valid_utf8(btrim(text, {literal(_SPACE)})), 'null') END"
)
#: The field of the object around a text, with a name that no text has.
_MANY = "_goldsmith_many"
#: The column of texts, which no folder is called.
_VALUE = "_goldsmith_value"
#: Stands where bytes were none of their encoding.
_UNKNOWN = "\ufffd"
_LENIENT = "spark.sql.legacy.codingErrorAction"


def infer(reading: Reading) -> StructType:
    """The fields of all records."""
    from pyspark.sql.types import StructType

    seen = []
    for shape, files in _by_shape(reading).items():
        whole = shape is JsonShape.DOCUMENT
        reader = _reader(reading, multiLine=whole, columnNameOfCorruptRecord=CORRUPT)
        found = reader.json(reading.addresses(files)).schema
        seen.append(StructType([field for field in found.fields if field.name != CORRUPT]))
    return union_of(seen, source=reading.source.source_id, loose=True)


def read(reading: Reading, schema: StructType) -> DataFrame:
    """Rows and malformed records of all files, in the columns of a schema."""
    # Spark's own reader keeps malformed lines as they were written in UTF-8 only.
    checked = reading.options.is_on("check_lines", default=True) or encoding_of(reading) != "utf-8"
    parts = [
        _wrapped(reading, files, schema, whole=shape is JsonShape.DOCUMENT)
        if checked or shape is JsonShape.DOCUMENT
        else _lines(reading, files, schema)
        for shape, files in _by_shape(reading).items()
    ]
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)


def _by_shape(reading: Reading) -> dict[JsonShape, list[FileSeen]]:
    groups: dict[JsonShape, list[FileSeen]] = {}
    for file, shape in zip(reading.files, json_shapes(reading), strict=True):
        groups.setdefault(shape, []).append(file)
    return groups


def _reader(reading: Reading, **said: Any) -> DataFrameReader:
    if encoding_of(reading) != "utf-8":
        said["encoding"] = _encoding(reading)  # not every reader knows it as charset
        # Spark finds the ends of lines by itself in UTF-8 only.
        said["lineSep"] = reading.options.get("lineSep") or "\n"
    return reading.reader(**said)


def _encoding(reading: Reading) -> str:
    return reading.options.get("encoding", "charset") or "UTF-8"


def _lines(reading: Reading, files: list[FileSeen], schema: StructType) -> DataFrame:
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    # Spark refuses a query for nothing but the corrupt records.
    fields = schema.fields or [StructField("_none", StringType())]
    raw = (
        _reader(reading, multiLine=False, mode=reading.mode, columnNameOfCorruptRecord=CORRUPT)
        .schema(StructType([*fields, StructField(CORRUPT, StringType())]))
        .json(reading.addresses(files))
    )
    reason = (
        f"CASE WHEN {CORRUPT} IS NULL THEN NULL WHEN try_parse_json({CORRUPT}) IS NULL"
        f" THEN {_BROKEN} ELSE {_misfits(schema, CORRUPT)} END"
    )
    return all_columns_needed(raw).select(
        *(F.col(name(column)) for column in schema.names),
        *reading.partitions(raw, [field.name for field in fields]),
        source_file(raw, files, reading.places),
        F.col(CORRUPT).alias(TEXT),
        F.expr(reason).alias(REASON),
    )


def _misfits(schema: StructType, text: str, record: str | None = None) -> str:
    """SQL for which columns of the object in `text` do not fit, where that can be told."""
    values = f"from_json({text}, 'map<string,string>')"
    wrong = misfits(schema, values, lambda column: f"raw[{literal(column)}]", record)
    return f"coalesce(nullif({wrong}, ''), {_MISFIT})"


def _wrapped(
    reading: Reading, files: list[FileSeen], schema: StructType, *, whole: bool
) -> DataFrame:
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, BooleanType, StringType, StructField, StructType

    raw = _texts(reading, files, schema, whole=whole)
    folders = [column for column in raw.columns if column != _VALUE]
    in_folders = {column.lower() for column in folders}
    # What folders say is not looked for in their records, as Spark has it.
    own = StructType([field for field in schema.fields if field.name.lower() not in in_folders])
    # In a struct, because a folder may have a name of ours.
    aside = [F.struct(*(F.col(name(c)) for c in folders)).alias("folders")] if folders else []
    with _lenient(reading) if encoding_of(reading) != "utf-8" else nullcontext():
        texts = raw.select(
            _text(reading).alias("text"), *aside, source_file(raw, files, reading.places)
        )
    # What ends our array too early is not JSON, and what ends our object hides its last field.
    # A comment, where they are allowed, ends with its line. White space is left to the parser:
    # cutting it off takes as long as half the parsing.
    text = F.col("text")
    is_array = ~text.startswith("{") & F.ltrim(text, F.lit(_SPACE)).startswith("[")
    head = F.when(is_array, f'{{"{_MANY}":').otherwise(f'{{"{_MANY}":[')
    tail = F.when(is_array, '\n,"end":true}').otherwise('\n],"end":true}')
    wrapped = texts.withColumn("wrapped", F.concat(head, text, tail))
    shape = StructType(
        [
            StructField(_MANY, ArrayType(own)),
            StructField("end", BooleanType()),
            StructField(CORRUPT, StringType()),
        ]
    )
    options = reading.options.but({"mode": reading.mode, "columnNameOfCorruptRecord": CORRUPT})
    said = options.for_spark(reading.places)
    parsed = wrapped.withColumn("parsed", F.from_json("wrapped", shape, said))
    many = F.col(f"parsed.{_MANY}")
    more = ~is_array & (F.size(many) > 1)
    broken = F.col(f"parsed.{CORRUPT}").isNotNull() | F.col("parsed.end").isNull() | more
    # What ends our array and begins another is one more field of our object.
    fields = F.size(F.json_object_keys("wrapped"))
    broken |= text.contains("]") & F.coalesce(fields > 2, F.lit(False))
    # The parser would put a sign for "unknown" in the place of bytes that are no text.
    broken |= ~F.expr(_is_text(reading))
    records = F.when(broken, F.array(F.lit(None).cast(own))).otherwise(many)
    # With posexplode_outer an empty array is a row without a position, and so is white space;
    # with explode Spark would ask for its size first, and so parse every record twice.
    rows = parsed.select(
        "*", broken.alias("broken"), F.posexplode_outer(records).alias("place", "record")
    )
    rows = rows.where("place IS NOT NULL")
    left = {column.lower(): column for column in folders}
    columns = [
        F.col("folders")[left.pop(field.name.lower())].alias(field.name)
        if field.name.lower() in left
        else F.col("record")[field.name].alias(field.name)
        for field in schema.fields
    ]
    return rows.select(
        *columns,
        *(F.col("folders")[column].alias(column) for column in left.values()),
        "_source_file",
        F.expr(_KEPT).alias(TEXT),
        F.expr(_reason(reading, own, whole=whole)).alias(REASON),
    )


def _texts(
    reading: Reading, files: list[FileSeen], schema: StructType, *, whole: bool
) -> DataFrame:
    """The lines or documents, and what is in the names of folders, in the types of the schema."""
    from pyspark.sql.types import StringType, StructField, StructType

    def load(fields: list[StructField]) -> DataFrame:
        # Not by its method `text`, which has a word of its own on wholetext.
        reader = _reader(reading, wholetext=whole).format("text")
        told = StructType([StructField(_VALUE, StringType()), *fields])
        return reader.schema(told).load(reading.addresses(files))

    raw = load([])
    folders = {column.lower() for column in raw.columns if column != _VALUE}
    typed = [field for field in schema.fields if field.name.lower() in folders]
    return load(typed) if typed else raw


def _reason(reading: Reading, schema: StructType, *, whole: bool) -> str:
    """SQL for why there is no record in a text that was wrapped."""
    crowded = literal(_CROWDED.format("file" if whole else "line"))
    misfit = _MISFIT if whole else _misfits(schema, "text", f"parsed.{_MANY}[0]")
    no_text = literal(f"it is not valid {_encoding(reading)}")
    # By itself, a value hides what follows it; wrapped, it does not.
    return (
        f"CASE WHEN record IS NOT NULL THEN NULL"
        f" WHEN NOT {_is_text(reading)} THEN {no_text}"
        f" WHEN broken AND parsed.{CORRUPT} IS NULL THEN {crowded}"
        f" WHEN try_parse_json(wrapped) IS NOT NULL THEN {misfit}"
        f" WHEN try_parse_json(text) IS NULL THEN {_BROKEN} ELSE {crowded} END"
    )


def _text(reading: Reading) -> Column:
    """What the text reader found, decoded, without a mark of its encoding."""
    from pyspark.sql import functions as F

    value = F.col(_VALUE)
    if encoding_of(reading) != "utf-8":
        # The text reader keeps the bytes as they are.
        value = F.decode(value.cast("binary"), _encoding(reading))
    return F.when(value.startswith("\ufeff"), F.substr(value, F.lit(2))).otherwise(value)


def _is_text(reading: Reading) -> str:
    """SQL for whether all bytes of a text were of its encoding."""
    if encoding_of(reading) == "utf-8":
        return "is_valid_utf8(text)"
    return f"NOT contains(text, {literal(_UNKNOWN)})"


@contextmanager
def _lenient(reading: Reading) -> Iterator[None]:
    """Bytes that are none of an encoding become a sign for that, and end no stage."""
    conf = reading.spark.conf
    before = conf.get(_LENIENT)
    conf.set(_LENIENT, "true")
    try:
        yield
    finally:
        conf.set(_LENIENT, str(before))
