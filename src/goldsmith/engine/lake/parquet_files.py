"""Find the Parquet files of a table or a staged write, for checks that Arrow evaluates."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from goldsmith.checks.parquet_files import ColumnStatistics, ParquetFiles, ranges_of
from goldsmith.checks.sizes import bytes_read
from goldsmith.settings.sections import StorageKind
from goldsmith.storage import staging
from goldsmith.storage.lake_tables import table_at
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LOG = logging.getLogger(__name__)
#: For fewer rows Spark finishes counting before its Python workers have started.
WORTH_IT = 1_000_000
#: Input size in bytes that yields roughly that many rows.
LARGE = 64 << 20
#: Every task reads all unsorted files: together they may add at most an eighth to the bytes.
_FEW = 8
#: Opening a file costs at least as much as reading so many bytes.
_OPENED = 1 << 18


def is_large(storage: Storage, rows: DataFrame) -> bool:
    """Whether Spark estimates enough input for Arrow to be faster."""
    return storage.settings.spark.native and bytes_read(rows) >= LARGE


def of_table(
    storage: Storage, name: Sequence[str], snapshot: str, *, at_least: int | None = None
) -> ParquetFiles | None:
    """The files of a snapshot; None if only Spark can read them, or if they hold few rows."""
    if not storage.settings.spark.native:
        return None
    try:
        least = WORTH_IT if at_least is None else at_least
        return _of_table(storage, tuple(name), int(snapshot), least)
    except Exception as error:  # an address that only Spark reaches, a type only Spark knows
        _LOG.info("the files of %s are left to Spark: %s", ".".join(name), error)
        return None


def _of_table(
    storage: Storage, name: tuple[str, ...], snapshot: int, at_least: int
) -> ParquetFiles | None:
    from pyiceberg.manifest import FileFormat

    table = table_at(storage, name)
    summary = None if table is None else table.snapshot_by_id(snapshot).summary
    if table is None or summary is None or int(summary.get("total-records", 0)) < at_least:
        return None
    scan = table.scan(snapshot_id=snapshot)
    tasks = list(scan.plan_files())
    if any(task.delete_files for task in tasks):
        return None
    files = [task.file for task in tasks]
    if any(file.file_format is not FileFormat.PARQUET for file in files):
        return None
    return ParquetFiles(
        ranges=ranges_of((file.file_path, file.file_size_in_bytes) for file in files),
        rows=sum(file.record_count for file in files),
        columns=_columns(table, scan.projection()),
        s3=_s3(storage),
    )


def _columns(table: Any, schema: Any) -> dict[str, ColumnStatistics]:
    """Field id and names of each column, without columns whose values may not be in the files."""
    from pyiceberg.transforms import IdentityTransform

    # Files imported from Hive lack the columns whose values are in folder names.
    in_folders = {
        part.source_id
        for spec in table.specs().values()
        for part in spec.fields
        if isinstance(part.transform, IdentityTransform)
    }
    mapping = table.metadata.name_mapping()
    names = (
        {field_names.field_id: tuple(field_names.names) for field_names in mapping}
        if mapping is not None
        else {}
    )
    return {
        field.name: ColumnStatistics(field.field_id, names.get(field.field_id, (field.name,)))
        for field in schema.fields
        # A file without the column holds NULL there, unless the column has an initial default.
        if field.initial_default is None and field.field_id not in in_folders
    }


def of_staged(
    storage: Storage,
    folders: Sequence[str],
    columns: Sequence[str],
    rows: int,
    *,
    removed_folders: Sequence[str] = (),
    at_least: int | None = None,
) -> ParquetFiles | None:
    """The files that Spark staged in folders; None if Arrow would not be faster.

    `removed_folders` hold the rows that were routed out from among the rows of `folders`.
    """
    if not storage.settings.spark.native or rows < (WORTH_IT if at_least is None else at_least):
        return None
    files, unsorted_files = (
        [file for folder in some for file in staging.sized(storage, folder)]
        for some in (folders, removed_folders)
    )
    ranges = ranges_of(files)
    once_more = max(len(ranges), 1) * sum(max(size, _OPENED) for _, size in unsorted_files)
    if _FEW * once_more > sum(size for _, size in files):
        ranges, unsorted_files = ranges_of([*files, *unsorted_files]), []
    return ParquetFiles(
        ranges=ranges,
        rows=rows,
        columns={name: ColumnStatistics(None, (name,)) for name in columns},
        unsorted_files=ranges_of(unsorted_files),
        s3=_s3(storage),
    )


def _s3(storage: Storage) -> dict[str, object]:
    storage_settings = storage.settings.storage
    if storage_settings.kind is not StorageKind.S3:
        return {}
    options = {
        "endpoint_override": storage_settings.endpoint,
        "region": storage_settings.region,
        "access_key": storage.secret(storage_settings.access_key),
        "secret_key": storage.secret(storage_settings.secret_key),
        "force_virtual_addressing": not storage_settings.path_style,
    }
    return {name: value for name, value in options.items() if value is not None}
