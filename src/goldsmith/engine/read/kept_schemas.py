"""Store inferred schemas, so that types do not change with each day's data."""

from __future__ import annotations

import json

import sqlalchemy as sa

from goldsmith.catalog.prepared import Prepared
from goldsmith.engine.read.widening import merge_inferred
from goldsmith.journal.clock import now
from goldsmith.journal.definitions import kept_schemas
from goldsmith.journal.journal import Journal

_KEPT = Prepared(
    sa.select(kept_schemas.c.schema_json).where(
        kept_schemas.c.dataset_id == sa.bindparam("dataset")
    )
)


def get(journal: Journal, dataset_id: str) -> str | None:
    """The stored schema of a dataset, as Spark's JSON."""
    found = _KEPT.glance(journal.engine, {"dataset": dataset_id})
    return str(found[0][0]) if found else None


def put(connection: sa.Connection, dataset_id: str, schema_json: str) -> None:
    """Store the schema a published stage run inferred, merged with the one stored meanwhile."""
    from pyspark.sql.types import StructType

    same_dataset = kept_schemas.c.dataset_id == dataset_id
    stored = connection.execute(sa.select(kept_schemas.c.schema_json).where(same_dataset)).scalar()
    if stored is not None:
        before, seen = (StructType.fromJson(json.loads(text)) for text in (stored, schema_json))
        schema_json = merge_inferred(before, seen).json()
        connection.execute(sa.delete(kept_schemas).where(same_dataset))
    connection.execute(
        sa.insert(kept_schemas).values(
            dataset_id=dataset_id, schema_json=schema_json, inferred_at=now()
        )
    )
