"""AWS Glue: the databases and tables of its data catalog; the catalog's id is the database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goldsmith.collectors.collector import (
    Collector,
    ConnectionSetting,
    WarehouseFunctions,
)


def connect(settings: Mapping[str, str]) -> Any:
    """A client of boto3; the credentials are those of the machine."""
    import boto3

    return boto3.client(
        "glue", region_name=settings.get("region"), endpoint_url=settings.get("endpoint")
    )


def schemas(connection: Any) -> Iterator[dict[str, Any]]:
    """The databases of the catalog."""
    for page in connection.get_paginator("get_databases").paginate():
        for found in page["DatabaseList"]:
            yield {"database": "awsdatacatalog", "schema": found["Name"], "problem": None}


def tables(
    connection: Any, database: str, schema: str, only_volume: bool
) -> Iterator[dict[str, Any]]:
    """The tables of a database; statistics are those that crawlers and engines write."""
    for page in connection.get_paginator("get_tables").paginate(DatabaseName=schema):
        for found in page["TableList"]:
            storage = found.get("StorageDescriptor") or {}
            facts = found.get("Parameters") or {}
            columns = [*(storage.get("Columns") or ()), *(found.get("PartitionKeys") or ())]
            yield {
                "name": found["Name"],
                "kind": found.get("TableType"),
                "description": found.get("Description"),
                "view_query": found.get("ViewOriginalText") or None,
                "rows": facts.get("numRows") or facts.get("recordCount"),
                "size": facts.get("totalSize") or facts.get("sizeKey"),
                "updated": found.get("UpdateTime"),
                "created_on": found.get("CreateTime"),
                "columns": [
                    {
                        "name": column["Name"],
                        "type": column.get("Type") or "unknown",
                        "description": column.get("Comment"),
                    }
                    for column in (() if only_volume else columns)
                ],
                "tags": []
                if only_volume
                else [{"key": key, "value": value} for key, value in sorted(facts.items())],
            }


glue = Collector(
    resource_type="data-lake",
    extra="aws",
    dialect="trino",
    packages=("boto3",),
    settings=(
        ConnectionSetting(name="region", doc="The region."),
        ConnectionSetting(name="endpoint", doc="Another endpoint than AWS."),
    ),
    connect=connect,
    functions=WarehouseFunctions(schemas=schemas, tables=tables),
    lacks="The last update is that of the catalog entry. It has no query history; lineage comes "
    "from views whose text is SQL.",
)
