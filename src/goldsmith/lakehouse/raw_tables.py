"""The tables of raw records: one for each ACTIVE application, in the namespace `entity_raw`.

A day of extraction is `truncate(86400000)` of `extracted_at`: the first millisecond of its day in
UTC. Iceberg's `day` takes no long.
"""

from __future__ import annotations

import logging
from typing import Any

from goldsmith.catalog.catalog import Catalog
from goldsmith.errors import GoldsmithError
from goldsmith.lakehouse import applications
from goldsmith.storage import lake_catalog, lake_tables
from goldsmith.storage.spark_addresses import lake_address
from goldsmith.storage.storage import Storage

_LOG = logging.getLogger(__name__)
NAMESPACE = "entity_raw"
#: The names under which clients know the namespace.
NAMESPACES = frozenset((NAMESPACE, "int_entity_raw"))
DAY_MILLIS = 86_400_000
#: The columns in their order, and whether each is required.
COLUMNS = {
    "typename": True,
    "connection_qualified_name": True,
    "workflow_id": True,
    "workflow_run_id": True,
    "extracted_at": True,
    "tenant_id": True,
    "entity_name": False,
    "raw_record": True,
}
_PROPERTIES = {"format-version": "2", "write.parquet.compression-codec": "zstd"}


def find_table(storage: Storage, application: str) -> Any | None:
    """The table of an application; None if it does not exist."""
    return lake_tables.table_at(storage, (NAMESPACE, application))


def ensure_table(storage: Storage, application: str) -> Any:
    """The table of an application, made if it does not exist."""
    found = find_table(storage, application)
    if found is not None:
        return found
    lake_catalog.prepare(storage)
    catalog = storage.lake()
    assert catalog is not None  # its database was prepared above
    catalog.create_namespace_if_not_exists((NAMESPACE,))
    schema, spec = _schema_and_spec()
    warehouse = storage.settings.lake.warehouse
    catalog.create_table_if_not_exists(
        (NAMESPACE, application),
        schema,
        location=warehouse
        and lake_address(storage, f"{warehouse.rstrip('/')}/{NAMESPACE}/{application}"),
        partition_spec=spec,
        properties=_PROPERTIES,
    )
    made = find_table(storage, application)
    assert made is not None  # made above; nothing drops it
    return made


def ensure_tables(catalog: Catalog, storage: Storage) -> list[str]:
    """Make the missing tables of ACTIVE applications; returns the names of those made."""
    made = []
    for name, row in applications.active(catalog).items():
        try:
            applications.check(row)
            if find_table(storage, name) is None:
                ensure_table(storage, name)
                made.append(name)
        except GoldsmithError as error:  # one application must not hold up the others
            _LOG.warning("the table of the application %s: %s [%s]", name, error, error.code)
    return made


def _schema_and_spec() -> tuple[Any, Any]:
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform, TruncateTransform
    from pyiceberg.types import LongType, NestedField, StringType

    fields = [
        NestedField(
            number, name, LongType() if name == "extracted_at" else StringType(), required=required
        )
        for number, (name, required) in enumerate(COLUMNS.items(), 1)
    ]
    ids = {field.name: field.field_id for field in fields}
    spec = PartitionSpec(
        PartitionField(ids["typename"], 1000, IdentityTransform(), "typename"),
        PartitionField(
            ids["extracted_at"], 1001, TruncateTransform(DAY_MILLIS), "extracted_at_day"
        ),
    )
    return Schema(*fields), spec
