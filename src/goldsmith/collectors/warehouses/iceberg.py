"""Iceberg tables of any catalog that PyIceberg opens, our own lake too; rows and sizes are those
of the current snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goldsmith.collectors.collector import (
    Collector,
    ConnectionSetting,
    WarehouseFunctions,
)


def connect(settings: Mapping[str, str]) -> Any:
    """Load the catalog with PyIceberg."""
    from pyiceberg.catalog import load_catalog

    names = {"access_key": "s3.access-key-id", "secret_key": "s3.secret-access-key"}
    names |= {"endpoint": "s3.endpoint", "region": "s3.region"}
    name = settings["name"]
    given = {names.get(key, key): value for key, value in settings.items() if key != "name"}
    return load_catalog(name, **given)


def schemas(connection: Any) -> Iterator[dict[str, Any]]:
    """The namespaces, those inside others too."""
    waiting = list(connection.list_namespaces())
    while waiting:
        namespace = waiting.pop(0)
        yield {"database": connection.name, "schema": ".".join(namespace), "problem": None}
        try:
            inner = connection.list_namespaces(namespace)
        except Exception:  # catalogs without namespaces inside others
            continue
        waiting += [found for found in inner if len(found) > len(namespace)]


def tables(
    connection: Any, database: str, schema: str, only_volume: bool
) -> Iterator[dict[str, Any]]:
    """The tables of a namespace."""
    from datetime import UTC, datetime

    for identifier in connection.list_tables(tuple(schema.split("."))):
        try:
            table = connection.load_table(identifier)
        except Exception as error:  # it was dropped meanwhile, or is no Iceberg table
            lines = str(error).splitlines()
            yield {"name": identifier[-1], "problem": lines[0] if lines else repr(error)}
            continue
        snapshot = table.current_snapshot()
        facts = dict(snapshot.summary.additional_properties) if snapshot is not None else {}
        changed = snapshot.timestamp_ms if snapshot is not None else None
        yield {
            "name": identifier[-1],
            "kind": "TABLE",
            "description": table.properties.get("comment"),
            "rows": facts.get("total-records") if facts else 0,
            "size": facts.get("total-files-size") if facts else 0,
            "updated": None if changed is None else datetime.fromtimestamp(changed / 1000, UTC),
            "columns": [
                {"name": field.name, "type": str(field.field_type), "description": field.doc}
                for field in (() if only_volume else table.schema().fields)
            ],
            "tags": []
            if only_volume
            else [
                {"key": key, "value": value}
                for key, value in sorted(table.properties.items())
                if key != "comment"
            ],
        }


iceberg = Collector(
    resource_type="data-lake",
    packages=("pyiceberg",),
    settings=(
        ConnectionSetting(name="name", doc="The catalog's name.", required=True),
        ConnectionSetting(name="type", doc="rest, sql, glue, hive …"),
        ConnectionSetting(name="uri", doc="Its address.", required=True),
        ConnectionSetting(name="warehouse", doc="Where its tables lie."),
        ConnectionSetting(name="token", doc="A token of a REST catalog.", secret=True),
        ConnectionSetting(name="credential", doc="Client id and secret.", secret=True),
        ConnectionSetting(name="access_key", doc="The S3 access key.", secret=True),
        ConnectionSetting(name="secret_key", doc="The S3 secret key.", secret=True),
        ConnectionSetting(name="endpoint", doc="The S3 endpoint, if it is not AWS."),
        ConnectionSetting(name="region", doc="The S3 region."),
    ),
    connect=connect,
    functions=WarehouseFunctions(schemas=schemas, tables=tables),
    lacks="A catalog has no query history and no lineage. The rows do not count deletes that a "
    "snapshot's total-records does not.",
)
