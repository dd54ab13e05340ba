"""The options that the reader of each file format knows: Spark's and our own."""

from __future__ import annotations

from collections.abc import Mapping

_FILES = (
    *("basePath", "ignoreCorruptFiles", "ignoreInvalidPartitionPaths", "ignoreMissingFiles"),
    *("modifiedAfter", "modifiedBefore", "pathGlobFilter", "recursiveFileLookup"),
)
_TEXTS = ("charset", "encoding", "lineSep")
_RECORDS = (
    *_TEXTS,
    *("columnNameOfCorruptRecord", "dateFormat", "enableDateTimeParsingFallback", "locale"),
    *("mode", "multiLine", "samplingRatio", "singleVariantColumn", "timeZone"),
    *("timestampFormat", "timestampNTZFormat"),
)
_CSV = (
    *_RECORDS,
    *("charToEscapeQuoteEscaping", "columnPruning", "comment", "delimiter", "emptyValue"),
    *("enforceSchema", "escape", "extension", "header", "ignoreLeadingWhiteSpace"),
    *("ignoreTrailingWhiteSpace", "inferSchema", "inputBufferSize", "maxCharsPerColumn"),
    *("maxColumns", "nanValue", "negativeInf", "nullValue", "positiveInf", "preferDate"),
    *("quote", "sep", "unescapedQuoteHandling"),
)
_JSON = (
    *_RECORDS,
    *("allowBackslashEscapingAnyCharacter", "allowComments", "allowNonNumericNumbers"),
    *("allowNumericLeadingZeros", "allowSingleQuotes", "allowUnquotedControlChars"),
    *("allowUnquotedFieldNames", "check_lines", "dropFieldIfAllNull", "inferTimestamp"),
    *("prefersDecimal", "primitivesAsString", "useUnsafeRow"),
)
_AVRO = (
    *("avroSchema", "avroSchemaUrl", "datetimeRebaseMode", "ignoreExtension", "mode"),
    *("enableStableIdentifiersForUnionType", "positionalFieldMatching", "recursiveFieldMaxDepth"),
    "stableIdentifierPrefixForUnionType",
)
#: The keys `sources.options` may have, by file_format. Keys with a dot are Hadoop settings.
READER_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "avro": (*_FILES, *_AVRO),
    "csv": (*_FILES, *_CSV),
    "json": (*_FILES, *_JSON),
    "jsonl": (*_FILES, *_JSON),
    "orc": (*_FILES, "mergeSchema"),
    "parquet": (*_FILES, "datetimeRebaseMode", "int96RebaseMode", "mergeSchema"),
    "text": (*_FILES, *_TEXTS, "wholetext"),
    "tsv": (*_FILES, *_CSV),
}
