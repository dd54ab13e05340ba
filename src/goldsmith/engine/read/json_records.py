"""Read json and jsonl files: whole documents, and lines with one record each.

Spark reads the first JSON value of a file or line and silently ignores what follows. So every text
is wrapped in a JSON object, where a second value is an error. One malformed value makes the whole
document malformed. Spark's own line reader is faster; sources with `check_lines: false` use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from goldsmith.engine.names import literal, name
from goldsmith.engine.read import exact, json_keys
from goldsmith.engine.read.file_sniffing import JsonShape, encoding_of, json_shapes
from goldsmith.engine.read.malformed import REASON, TEXT, all_columns_needed, misfits
from goldsmith.engine.read.reading import CORRUPT, Reading
from goldsmith.engine.read.source_file import source_file
from goldsmith.engine.read.widening import union_of
from goldsmith.storage.files import ListedFile

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader
    from pyspark.sql.types import StructType

_BROKEN = literal("it is not valid JSON")
_CROWDED = "it is not one JSON value: something follows the first in the same {}"
_MISFIT = literal("a value in it does not fit the type of its column")
_TWICE = "coalesce(size(keys) > size(array_distinct(keys)), false)"
_TWICE_REASON = literal("it has several values of one name")
_SPACE = " \t\r\n"
#: Java regular expression for an escaped surrogate without its other half.
_BEFORE = r"(?<!\\)(?:\\\\)*+"
_HALF = (
    rf"{_BEFORE}\\u[dD](?:[89abAB][0-9a-fA-F]{{2}}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)
_HALF_REASON = literal("it has half of a surrogate pair (\\ud800 … \\udfff), which is no character")
#: Java regular expression for a field whose name is the empty text.
_NAMELESS = r'[{,]\s*+""\s*+:'
_NAMELESS_REASON = literal("it has a field without a name, which no inferred column holds")
#: SQL for the text of a malformed record, made valid UTF-8 so that other programs can read it.
_KEPT = (
    "CASE WHEN record IS NULL"
    f" THEN IF(broken, make_valid_utf8(btrim(text, {literal(_SPACE)})), 'null') END"
)
#: The field of the wrapping object, with a name that no text has.
_MANY = "_goldsmith_many"
#: The column of texts, with a name that no partition column has.
VALUE = "_goldsmith_value"
#: Replaces bytes that are invalid in the encoding.
_UNKNOWN = "\ufffd"
_CODING_ERRORS = "spark.sql.legacy.codingErrorAction"


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
    # Spark's own reader keeps the text of malformed lines only in UTF-8.
    checked = reading.options.is_on("check_lines", default=True) or encoding_of(reading) != "utf-8"
    parts = [
        _wrapped(reading, files, schema, whole=shape is JsonShape.DOCUMENT)
        if checked or shape is JsonShape.DOCUMENT
        else _lines(reading, files, schema)
        for shape, files in _by_shape(reading).items()
    ]
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)


def _by_shape(reading: Reading) -> dict[JsonShape, list[ListedFile]]:
    groups: dict[JsonShape, list[ListedFile]] = {}
    for file, shape in zip(reading.files, json_shapes(reading), strict=True):
        groups.setdefault(shape, []).append(file)
    return groups


def _reader(reading: Reading, **options: Any) -> DataFrameReader:
    if encoding_of(reading) != "utf-8":
        options["encoding"] = encoding_name(reading)  # not every reader knows the option charset
        # Spark detects line separators only in UTF-8.
        options["lineSep"] = reading.options.get("lineSep") or "\n"
    return reading.reader(**options)


def encoding_name(reading: Reading) -> str:
    """The encoding of text, by its name in the source's options."""
    return reading.options.get("encoding", "charset") or "UTF-8"


def _lines(reading: Reading, files: list[ListedFile], schema: StructType) -> DataFrame:
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    # Spark refuses a query that selects only the corrupt records.
    fields = schema.fields or [StructField("_none", StringType())]
    raw = (
        _reader(reading, multiLine=False, mode="PERMISSIVE", columnNameOfCorruptRecord=CORRUPT)
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
        source_file(raw, files, reading.storage),
        F.col(CORRUPT).alias(TEXT),
        F.expr(reason).alias(REASON),
    )


def _misfits(schema: StructType, text: str, record: str | None = None) -> str:
    """SQL for the columns of the object in `text` that do not fit, if they can be found."""
    values = f"from_json({text}, 'map<string,string>')"
    wrong = misfits(schema, values, lambda column: f"raw[{literal(column)}]", record)
    return f"coalesce(nullif({wrong}, ''), {_MISFIT})"


def _wrapped(
    reading: Reading, files: list[ListedFile], schema: StructType, *, whole: bool
) -> DataFrame:
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, BooleanType, StringType, StructField, StructType

    raw = _texts(reading, files, schema, whole=whole)
    folders = [column for column in raw.columns if column != VALUE]
    in_folders = {column.lower() for column in folders}
    # As in Spark, partition columns are not read from the records.
    own = StructType([field for field in schema.fields if field.name.lower() not in in_folders])
    # In a struct, because a partition column may have the name of a helper column.
    folder_columns = (
        [F.struct(*(F.col(name(c)) for c in folders)).alias("folders")] if folders else []
    )
    with lenient(reading) if encoding_of(reading) != "utf-8" else nullcontext():
        texts = raw.select(
            text_of(reading).alias("text"),
            *folder_columns,
            source_file(raw, files, reading.storage),
        )
    # A text that closes the wrapping array too early gives invalid JSON; one that closes the
    # wrapping object hides the field "end". The line break ends a comment, where allowed.
    # White space is left to the parser: trimming takes half as long as parsing.
    text = F.col("text")
    is_array = ~text.startswith("{") & F.ltrim(text, F.lit(_SPACE)).startswith("[")
    head = F.when(is_array, f'{{"{_MANY}":').otherwise(f'{{"{_MANY}":[')
    tail = F.when(is_array, '\n,"end":true}').otherwise('\n],"end":true}')
    keys = F.json_object_keys("text")
    nested = json_keys.has_objects(own)
    if nested:
        texts = texts.withColumn("may_be_odd", json_keys.may_be_odd(text, own))
        keys = F.when(F.col("may_be_odd"), keys)
    wrapped = texts.withColumns({"wrapped": F.concat(head, text, tail), "keys": keys})
    shape = StructType(
        [
            StructField(_MANY, ArrayType(exact.wide(own))),
            StructField("end", BooleanType()),
            StructField(CORRUPT, StringType()),
        ]
    )
    options = reading.options.but({"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT})
    spark_options = options.for_spark(reading.storage)
    parsed = wrapped.withColumn("parsed", F.from_json("wrapped", shape, spark_options))
    many = F.col(f"parsed.{_MANY}")
    more = ~is_array & (F.size(many) > 1)
    broken = F.col(f"parsed.{CORRUPT}").isNotNull() | F.col("parsed.end").isNull() | more
    # A text that closes the array and opens another adds a field to the wrapping object.
    fields = F.size(F.json_object_keys("wrapped"))
    broken |= text.contains("]") & F.coalesce(fields > 2, F.lit(False))
    # The parser takes the last of two values with one name, and none if the case differs.
    broken |= F.expr(f"{_TWICE} OR {_misspelt(own)}")
    # The parser would replace invalid bytes by U+FFFD.
    broken |= ~F.expr(_is_text(reading)) | _has_half(text)
    broken |= F.expr(_is_nameless(reading))
    lost = _lost(own, many, spark_options)
    if nested:
        odd = json_keys.odd(F.col("wrapped"), _MANY, own, spark_options)
        odd = F.when(F.col("may_be_odd"), odd)
        lost = odd if lost is None else F.coalesce(odd, lost)
    if lost is not None:
        broken |= lost.isNotNull()
    none = F.array(F.lit(None).cast(exact.wide(own)))
    # As a column: in a generator and beside the generator Spark would compute it twice.
    parsed = parsed.withColumn("broken", broken)
    records = F.when(F.col("broken"), none).otherwise(many)
    # posexplode_outer gives a row without a position for an empty array and for white space;
    # with explode Spark would compute the size first, and so parse every record twice.
    rows = parsed.select("*", F.posexplode_outer(records).alias("place", "record"))
    rows = rows.where("place IS NOT NULL")
    left = {column.lower(): column for column in folders}
    columns = [
        F.col("folders")[left.pop(field.name.lower())].alias(field.name)
        if field.name.lower() in left
        else F.col("record")[field.name].cast(field.dataType).alias(field.name)
        for field in schema.fields
    ]
    reason = F.expr(_reason(reading, own, whole=whole))
    if lost is not None:
        reason = F.when(F.col("record").isNull() & lost.isNotNull(), lost).otherwise(reason)
    return rows.select(
        *columns,
        *(F.col("folders")[column].alias(column) for column in left.values()),
        "_source_file",
        F.expr(_KEPT).alias(TEXT),
        reason.alias(REASON),
    )


def _has_half(text: Column) -> Column:
    return text.contains("\\u") & text.rlike(_HALF)


def _lost(schema: StructType, many: Column, options: dict[str, str]) -> Column | None:
    """The values in a text's records that their types would change; NULL if there are none."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, StructField, StructType

    text = F.col("text")
    doubts = [text.rlike(exact.more_digits(scale)) for scale in exact.tight_scales(schema)]
    if exact.doubtful(F.lit(None), schema) is not None:
        doubts.append(_of_any(many, lambda record: exact.doubtful(record, schema)))
    if exact.has_times(schema):
        doubts.append(text.rlike(exact.NANOSECONDS))
    if not doubts:
        return None
    found = exact.exact(schema)
    twins: Column | None = None
    if found is not None:
        shape = StructType([StructField(_MANY, ArrayType(found))])
        twins = F.from_json("wrapped", shape, options)[_MANY]

    def reasons(record: Column, twin: Column | None) -> Column:
        return exact.reasons(record, twin, schema, text)

    only = reasons(F.get(many, F.lit(0)), None if twins is None else F.get(twins, F.lit(0)))
    each = (
        F.transform(many, lambda record: reasons(record, None))
        if twins is None
        else F.zip_with(many, twins, reasons)
    )
    joined = F.array_join(F.filter(each, lambda reason: reason != ""), ", ")
    reason = F.nullif(F.when(F.size(many) == 1, only).otherwise(joined), F.lit(""))
    return F.when(reduce(or_, doubts), reason)


def _of_any(many: Column, condition: Callable[[Column], Any]) -> Column:
    """Whether a condition holds for any record; a single record needs no array function."""
    from pyspark.sql import functions as F

    first = condition(F.get(many, F.lit(0)))
    return F.when(F.size(many) == 1, first).otherwise(F.exists(many, condition))


def _texts(
    reading: Reading, files: list[ListedFile], schema: StructType, *, whole: bool
) -> DataFrame:
    """The lines or documents, and partition columns with the types of the schema."""
    from pyspark.sql.types import StringType, StructField, StructType

    def load(fields: list[StructField]) -> DataFrame:
        # Not by the method `text`, which overrides the option wholetext.
        reader = _reader(reading, wholetext=whole).format("text")
        text_schema = StructType([StructField(VALUE, StringType()), *fields])
        return reader.schema(text_schema).load(reading.addresses(files))

    raw = load([])
    folders = {column.lower() for column in raw.columns if column != VALUE}
    typed = [field for field in schema.fields if field.name.lower() in folders]
    return load(typed) if typed else raw


def _reason(reading: Reading, schema: StructType, *, whole: bool) -> str:
    """SQL for the reason why a wrapped text has no record."""
    crowded = literal(_CROWDED.format("file" if whole else "line"))
    misfit = _MISFIT if whole else _misfits(schema, "text", f"parsed.{_MANY}[0]")
    no_text = literal(f"it is not valid {encoding_name(reading)}")
    # Alone, the first value hides what follows it; wrapped, it does not.
    return (
        f"CASE WHEN record IS NOT NULL THEN NULL"
        f" WHEN NOT {_is_text(reading)} THEN {no_text}"
        f" WHEN contains(text, {literal(chr(92) + 'u')}) AND text RLIKE {literal(_HALF)}"
        f" THEN {_HALF_REASON}"
        f" WHEN {_is_nameless(reading)} THEN {_NAMELESS_REASON}"
        f" WHEN {_TWICE} THEN {_TWICE_REASON}"
        f" WHEN {_misspelt(schema)} THEN {_misspelt_reason(schema)}"
        f" WHEN broken AND parsed.{CORRUPT} IS NULL THEN {crowded}"
        f" WHEN try_parse_json(wrapped) IS NOT NULL THEN {misfit}"
        f" WHEN try_parse_json(text) IS NULL THEN {_BROKEN} ELSE {crowded} END"
    )


def _misspelt(schema: StructType) -> str:
    """SQL for whether a record has a column in another case; checked only if a column is NULL."""
    if not schema.fields:
        return "false"
    missing = " OR ".join(f"get(parsed.{_MANY}, 0).{name(c)} IS NULL" for c in schema.names)
    return f"(({missing}) AND coalesce(exists(keys, key -> {_is_misspelt(schema)}), false))"


def _misspelt_reason(schema: StructType) -> str:
    names = f"concat_ws(', ', filter(keys, key -> {_is_misspelt(schema)}))"
    return f"concat('the columns of the schema are spelt otherwise: ', {names})"


def _is_misspelt(schema: StructType) -> str:
    if not schema.names:
        return "false"
    exact = ", ".join(literal(column) for column in schema.names)
    lowered = ", ".join(literal(column.lower()) for column in schema.names)
    return f"lower(key) IN ({lowered}) AND key NOT IN ({exact})"


def text_of(reading: Reading) -> Column:
    """The text of a line or document, decoded and without a byte order mark."""
    from pyspark.sql import functions as F

    value = F.col(VALUE)
    if encoding_of(reading) != "utf-8":
        # The text reader does not decode the bytes.
        value = F.decode(value.cast("binary"), encoding_name(reading))
    return F.when(value.startswith("\ufeff"), F.substr(value, F.lit(2))).otherwise(value)


def _is_nameless(reading: Reading) -> str:
    """SQL for whether a text has a field that Spark's inference leaves out in silence."""
    if reading.source.declared_schema or reading.source.schema_arn:
        return "false"  # a declared schema leaves out what it does not list
    return f"(contains(text, '\"\"') AND text RLIKE {literal(_NAMELESS)})"


def _is_text(reading: Reading) -> str:
    """SQL for whether all bytes of a text are valid in its encoding."""
    if encoding_of(reading) == "utf-8":
        return "is_valid_utf8(text)"
    return f"NOT contains(text, {literal(_UNKNOWN)})"


@contextmanager
def lenient(reading: Reading) -> Iterator[None]:
    """Inside the block invalid bytes become U+FFFD instead of failing the stage."""
    conf = reading.spark.conf
    before = str(conf.get(_CODING_ERRORS))
    conf.set(_CODING_ERRORS, "true")
    try:
        yield
    finally:
        conf.set(_CODING_ERRORS, before)
