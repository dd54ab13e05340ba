"""The files that table functions and table properties name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from goldsmith.digest.names import is_location

#: Table functions whose text is a remote query, unless it is a location.
_REMOTE = frozenset(("openquery", "external_query"))
_READERS = frozenset(
    (
        "read_parquet",
        "read_csv",
        "read_csv_auto",
        "read_json",
        "read_json_auto",
        "read_ndjson",
        "parquet_scan",
        "read_files",
        "cloud_files",
        "delta_scan",
        "iceberg_scan",
    )
)
_CLICKHOUSE = frozenset(("s3", "gcs", "url", "file", "hdfs", "deltalake", "iceberg"))
#: Properties of a table in WITH (…) that say where its files are.
_PROPERTIES = frozenset(("external_location", "location"))


def function_locations(node: exp.Expr, name: str, dialect: str) -> list[str]:
    """The files a table function reads or writes: its first argument, a text or a list of them."""
    reader = name in _READERS or (dialect == "clickhouse" and name in _CLICKHOUSE)
    if not reader and name not in _REMOTE:
        return []
    first = next((n for n in node.find_all(exp.Array, exp.Literal) if not _number(n)), None)
    if isinstance(first, exp.Array):
        found = [text.this for text in first.expressions if isinstance(text, exp.Literal)]
    else:
        found = [first.this] if first is not None else []
    return [path for path in found if reader or is_location(path)]


def _number(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string


def property_locations(properties: Iterable[exp.Expr]) -> Iterator[str]:
    """The files of an external table."""
    for prop in properties:
        if isinstance(prop, exp.LocationProperty) and isinstance(prop.this, exp.Literal):
            yield prop.this.this
        elif isinstance(prop, exp.OptionsProperty):
            for option in prop.expressions:
                path = option.args.get("value")
                if option.name.lower() == "path" and isinstance(path, exp.Literal):
                    yield path.this
        elif isinstance(prop, exp.EngineProperty) and isinstance(prop.this, exp.Func):
            found = function_locations(prop.this, prop.this.name.lower(), "clickhouse")
            yield from filter(is_location, found)
        elif isinstance(prop, exp.Property) and prop.name.lower() in _PROPERTIES:
            path = prop.args.get("value")
            if isinstance(path, exp.Literal):
                yield path.this
