"""Datasets: the rows of `sources` and `targets`, which share one namespace of ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldsmith.catalog.columns import key, mapping, text
from goldsmith.catalog.file_formats import FORMATS
from goldsmith.catalog.rows import Row, table
from goldsmith.settings.warehouse_kinds import shipped_types

#: The known values of a source's file_format; another value is a finding.
FILE_FORMATS = FORMATS.shipped()
#: The known values of a target's type: `s3` and `iceberg` are lake tables, the others warehouses.
LAKE_TYPES = ("s3", "iceberg")
WAREHOUSE_TYPES = shipped_types()


@table(
    "sources",
    purpose="One row a dataset that is read: where its files are, their format and schema.",
    read_by="planner, readers, throttles, path search",
    takes_effect="at the next plan",
)
class Source(Row):
    """A dataset that stages read."""

    source_id: str = key(doc="The dataset's id, shared with `targets`.")
    s3_path: str | None = text(default=None, doc="Where its files are: `s3://bucket/prefix/`.")
    file_format: str | None = text(
        default=None, doc=f"{', '.join(FILE_FORMATS)}; unset: by the files' extensions."
    )
    schema_arn: str | None = text(
        default=None, doc="ARN of a Glue schema; embedded: a file in the schemas folder."
    )
    declared_schema: str | None = text(
        default=None, doc="The schema as Spark DDL (`id BIGINT, name STRING`)."
    )
    options: Mapping[str, Any] = mapping(
        default=None, doc="Goldsmith's options, and Spark's reader options by their own names."
    )


@table(
    "targets",
    purpose="One row a dataset that is written: a lake table or a warehouse table.",
    read_by="planner, writers, warehouses, throttles",
    takes_effect="at the next plan; a changed location never moves or deletes data",
)
class Target(Row):
    """A dataset that stages write."""

    target_id: str = key(doc="The dataset's id, shared with `sources`.")
    location: str | None = text(
        default=None, doc="An S3 prefix for a lake table, `schema.table` for a warehouse."
    )
    type: str | None = text(default=None, doc=f"{', '.join((*LAKE_TYPES, *WAREHOUSE_TYPES))}.")
    options: Mapping[str, Any] = mapping(
        default=None, doc="distkey, sortkey, table properties …, depending on its type."
    )
