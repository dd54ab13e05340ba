"""json and jsonl: documents, and lines that are a record each.

Spark reads one JSON value of a file or line and is silent about whatever follows it. So the
beginning of every file is looked at first. Plain lines go through Spark's own JSON reader, the
quickest there is; documents, and lines of files that hold more than one value in some, are
wrapped in an object of ours, in which nothing can follow a value unnoticed. That takes about
twice the time, so whoever wants it for every line of a source says `check_lines`. A document
stands or falls as a whole.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from goldsmith.engine.names import literal, name
from goldsmith.engine.readers.heads import JsonShape, encoding_of, json_shapes
from goldsmith.engine.readers.malformed import REASON, TEXT, all_columns_needed, misfits
from goldsmith.engine.readers.reading import CORRUPT, Reading
from goldsmith.engine.readers.source_file import source_file
from goldsmith.engine.readers.widening import union_of
from goldsmith.planning.files import FileSeen

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_BROKEN = literal("it is not valid JSON")
_CROWDED = "it is not one JSON value: something follows the first in the same {}"
_MISFIT = literal("a value in it does not fit the type of its column")


def infer(reading: Reading) -> StructType:
    """The fields of all records."""
    from pyspark.sql.types import StructType

    seen = []
    for shape, files in _by_shape(reading).items():
        whole = shape is JsonShape.DOCUMENT
        reader = reading.reader(multiLine=whole, columnNameOfCorruptRecord=CORRUPT)
        found = reader.json(reading.addresses(files)).schema
        seen.append(StructType([field for field in found.fields if field.name != CORRUPT]))
    return union_of(seen, source=reading.source.source_id, loose=True)


def read(reading: Reading, schema: StructType) -> DataFrame:
    """Rows and malformed records of all files, in the columns of a schema."""
    parts = [
        _lines(reading, files, schema)
        if shape is JsonShape.LINES
        else _wrapped(reading, files, schema, whole=shape is JsonShape.DOCUMENT)
        for shape, files in _by_shape(reading).items()
    ]
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)


def _by_shape(reading: Reading) -> dict[JsonShape, list[FileSeen]]:
    groups: dict[JsonShape, list[FileSeen]] = {}
    for file, shape in zip(reading.files, json_shapes(reading), strict=True):
        groups.setdefault(shape, []).append(file)
    return groups


def _lines(reading: Reading, files: list[FileSeen], schema: StructType) -> DataFrame:
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    # Spark refuses a query for nothing but the corrupt records.
    fields = schema.fields or [StructField("_none", StringType())]
    raw = (
        reading.reader(multiLine=False, mode=reading.mode, columnNameOfCorruptRecord=CORRUPT)
        .schema(StructType([*fields, StructField(CORRUPT, StringType())]))
        .json(reading.addresses(files))
    )
    values = f"from_json({CORRUPT}, 'map<string,string>')"
    wrong = misfits(schema, values, lambda column: f"raw[{literal(column)}]")
    reason = (
        f"CASE WHEN {CORRUPT} IS NULL THEN NULL WHEN try_parse_json({CORRUPT}) IS NULL"
        f" THEN {_BROKEN} ELSE coalesce(nullif({wrong}, ''), {_MISFIT}) END"
    )
    return all_columns_needed(raw).select(
        *(F.col(name(column)) for column in schema.names),
        *reading.partitions(raw, [field.name for field in fields]),
        source_file(raw, files, reading.places),
        F.col(CORRUPT).alias(TEXT),
        F.expr(reason).alias(REASON),
    )


def _wrapped(
    reading: Reading, files: list[FileSeen], schema: StructType, *, whole: bool
) -> DataFrame:
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, BooleanType, StringType, StructField, StructType

    # Not by its method `text`, which has a word of its own on wholetext.
    raw = reading.reader(wholetext=whole).format("text").load(reading.addresses(files))
    partitions = reading.partitions(raw, ["value"])
    value = F.col("value")
    if encoding_of(reading) != "utf-8":
        # The text reader keeps the bytes as they are.
        value = F.decode(value.cast("binary"), str(reading.options.get("encoding", "charset")))
    texts = raw.select(
        F.btrim(value, F.lit(" \t\r\n\ufeff")).alias("text"),
        *partitions,
        source_file(raw, files, reading.places),
    ).where("text <> ''")
    # What ends our array too early is not JSON, and what ends our object hides its last field.
    is_array = F.col("text").startswith("[")
    head = F.when(is_array, '{"many":').otherwise('{"many":[')
    tail = F.when(is_array, ',"end":true}').otherwise('],"end":true}')
    wrapped = texts.withColumn("wrapped", F.concat(head, "text", tail))
    shape = StructType(
        [
            StructField("many", ArrayType(schema)),
            StructField("end", BooleanType()),
            StructField(CORRUPT, StringType()),
        ]
    )
    options = reading.options.but({"mode": reading.mode, "columnNameOfCorruptRecord": CORRUPT})
    said = options.for_spark(reading.places)
    parsed = wrapped.withColumn("parsed", F.from_json("wrapped", shape, said))
    more = ~is_array & (F.size("parsed.many") > 1)
    broken = F.col(f"parsed.{CORRUPT}").isNotNull() | F.col("parsed.end").isNull() | more
    records = F.when(broken, F.array(F.lit(None).cast(schema))).otherwise(F.col("parsed.many"))
    # With posexplode_outer an empty array is a row without a position; with explode Spark would
    # ask for its size first, and so parse every record twice.
    rows = parsed.select(
        "*", broken.alias("broken"), F.posexplode_outer(records).alias("place", "record")
    )
    rows = rows.where("place IS NOT NULL")
    text = "CASE WHEN record IS NULL THEN IF(broken, text, 'null') END"
    # By itself, a value hides what follows it; wrapped, it does not.
    crowded = literal(_CROWDED.format("file" if whole else "line"))
    reason = (
        f"CASE WHEN record IS NOT NULL THEN NULL"
        f" WHEN broken AND parsed.{CORRUPT} IS NULL THEN {crowded}"
        f" WHEN try_parse_json(wrapped) IS NOT NULL THEN {_MISFIT}"
        f" WHEN try_parse_json(text) IS NULL THEN {_BROKEN} ELSE {crowded} END"
    )
    return rows.select(
        *(F.col("record")[column].alias(column) for column in schema.names),
        *partitions,
        "_source_file",
        F.expr(text).alias(TEXT),
        F.expr(reason).alias(REASON),
    )
