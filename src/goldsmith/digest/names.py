"""Names of tables: as a statement writes them, completed by defaults, matched with known ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from goldsmith.digest.dialects import TWO_LEVELS

if TYPE_CHECKING:
    from sqlglot import exp

#: Schemes of file locations.
_SCHEMES = (
    "s3",
    "s3a",
    "s3n",
    "gs",
    "gcs",
    "azure",
    "abfss",
    "abfs",
    "wasbs",
    "hdfs",
    "dbfs",
    "file",
    "http",
    "https",
)
_FILE_FORMATS = frozenset(("parquet", "json", "csv", "orc", "avro", "text", "delta", "binaryfile"))


class Naming:
    """How names become ids: case, default database and schema, known ids first."""

    __slots__ = ("_known", "default_db", "default_schema", "dialect")

    def __init__(
        self,
        dialect: str = "",
        default_db: str | None = None,
        default_schema: str | None = None,
        known: Iterable[str] = (),
    ) -> None:
        self.dialect = dialect
        self.default_db = default_db or None
        self.default_schema = default_schema or None
        self._known = {name.lower(): name for name in known}

    def full(self, parts: list[tuple[str, bool]]) -> str:
        """The id of a table from the parts of its name."""
        if len(parts) == 2 and parts[0][0].lower() in _FILE_FORMATS and "/" in parts[1][0]:
            return parts[1][0]  # Spark's parquet.`path/to/files`
        texts = [text if quoted else text.lower() for text, quoted in parts]
        if len(texts) == 1 and self.dialect == "snowflake" and texts[0][:1] == "@":
            return stage_name(texts[0])
        if len(texts) == 1 and is_location(texts[0]):
            return parts[0][0]
        texts = _spread(texts)
        name = ".".join(texts)
        if self._known and (known := self._known.get(name.lower())) is not None:
            return known
        if texts[0][:1] in "#@" or "" in texts:
            # A variable, a session table, or `db..table`.
            if "" in texts and self.default_schema:
                return ".".join(text or self.default_schema for text in texts)
            return ".".join(text for text in texts if text)
        return ".".join(self._completed(texts))

    def _completed(self, texts: list[str]) -> list[str]:
        db, schema = self.default_db, self.default_schema
        if len(texts) == 1:
            if self.dialect in TWO_LEVELS:
                first = schema or db
                return [first, *texts] if first else texts
            return [part for part in (db, schema, *texts) if part]
        if len(texts) == 2 and db and self.dialect not in TWO_LEVELS:
            return [db, *texts]
        return texts

    def of_table(self, table: exp.Table) -> str:
        return self.full(table_parts(table))


def table_parts(table: exp.Table) -> list[tuple[str, bool]]:
    """The parts of a table's name, each with whether it was quoted."""
    from sqlglot import exp

    parts: list[tuple[str, bool]] = []
    for part in table.parts:
        if isinstance(part, exp.Identifier):
            mark = "##" if part.args.get("global_") else "#" if part.args.get("temporary") else ""
            parts.append((mark + part.this, bool(part.args.get("quoted"))))
        elif isinstance(part, exp.Literal):
            parts.append((part.this, True))
        elif isinstance(part, exp.Parameter):
            parts.append((f"@{part.name}", False))
        else:
            parts.append((part.name or part.sql(), False))
    return parts


def stage_name(text: str) -> str:
    """The name of a stage as CREATE STAGE gives it: without `@` and the path inside it."""
    return text if text[1:2] in ("~", "%", "") else text[1:].lower().partition("/")[0]


def is_location(text: str) -> bool:
    """Whether a text names files and not a table."""
    if text[:1] in "/@":
        return True
    scheme, colon, rest = text.partition("://")
    return bool(colon) and bool(rest) and scheme.lower() in _SCHEMES


def _spread(texts: list[str]) -> list[str]:
    """Split one quoted part that holds a whole dotted name."""
    if len(texts) == 1 and "." in texts[0] and not any(sign in texts[0] for sign in "/ *"):
        return texts[0].split(".")
    return texts
