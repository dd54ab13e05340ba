"""The Parquet files that rows lie in, for checks that Arrow puts to them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from goldsmith.checks.native.stored import KnownAs, Stored, ranges_of
from goldsmith.checks.sizes import bytes_read
from goldsmith.engine import staging
from goldsmith.planning.lake_tables import table_at
from goldsmith.planning.places import Places
from goldsmith.settings.sections import StorageKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LOG = logging.getLogger(__name__)
#: Of fewer rows Spark has counted everything before its Python workers are up.
WORTH_IT = 1_000_000
#: So many bytes are read where that many rows come of them, about.
LARGE = 64 << 20
#: Strays are read by every task: all of them together read an eighth more for it, at most.
_FEW = 8
#: To open a file costs as much as to read so many bytes, or more.
_OPENED = 1 << 18


def is_large(places: Places, rows: DataFrame) -> bool:
    """There will be so many rows, as far as Spark can tell, that Arrow is worth it for them."""
    return places.settings.spark.native and bytes_read(rows) >= LARGE


def of_table(
    places: Places, name: Sequence[str], snapshot: str, *, at_least: int | None = None
) -> Stored | None:
    """The files of a table's snapshot; None where they hold other rows too, or only few."""
    if not places.settings.spark.native:
        return None
    try:
        least = WORTH_IT if at_least is None else at_least
        return _of_table(places, tuple(name), int(snapshot), least)
    except Exception as error:  # an address that only Spark reaches, a type only Spark knows
        _LOG.info("the files of %s are left to Spark: %s", ".".join(name), error)
        return None


def _of_table(places: Places, name: tuple[str, ...], snapshot: int, at_least: int) -> Stored | None:
    from pyiceberg.manifest import FileFormat

    table = table_at(places, name)
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
    return Stored(
        ranges=ranges_of((file.file_path, file.file_size_in_bytes) for file in files),
        rows=sum(file.record_count for file in files),
        columns=_columns(table, scan.projection()),
        s3=_s3(places),
    )


def _columns(table: Any, schema: Any) -> dict[str, KnownAs]:
    """How the files know the columns of the table; those they may hold otherwise are left out."""
    from pyiceberg.transforms import IdentityTransform

    # Files that were brought from Hive lack what the names of their folders say.
    in_folders = {
        part.source_id
        for spec in table.specs().values()
        for part in spec.fields
        if isinstance(part.transform, IdentityTransform)
    }
    mapping = table.metadata.name_mapping()
    names = {one.field_id: tuple(one.names) for one in mapping} if mapping is not None else {}
    return {
        field.name: KnownAs(field.field_id, names.get(field.field_id, (field.name,)))
        for field in schema.fields
        # A file without the column means NULL by it, unless the table says what it means.
        if field.initial_default is None and field.field_id not in in_folders
    }


def of_staged(
    places: Places,
    folders: Sequence[str],
    columns: Sequence[str],
    rows: int,
    *,
    apart: Sequence[str] = (),
    at_least: int | None = None,
) -> Stored | None:
    """The files that Spark wrote into folders; None where they are not worth it.

    Rows of the folders `apart` were taken out of the midst of the others.
    """
    if not places.settings.spark.native or rows < (WORTH_IT if at_least is None else at_least):
        return None
    lying, strays = (
        [file for folder in some for file in staging.sized(places, folder)]
        for some in (folders, apart)
    )
    ranges = ranges_of(lying)
    once_more = max(len(ranges), 1) * sum(max(size, _OPENED) for _, size in strays)
    if _FEW * once_more > sum(size for _, size in lying):
        ranges, strays = ranges_of([*lying, *strays]), []
    return Stored(
        ranges=ranges,
        rows=rows,
        columns={name: KnownAs(None, (name,)) for name in columns},
        strays=ranges_of(strays),
        s3=_s3(places),
    )


def _s3(places: Places) -> dict[str, object]:
    storage = places.settings.storage
    if storage.kind is not StorageKind.S3:
        return {}
    said = {
        "endpoint_override": storage.endpoint,
        "region": storage.region,
        "access_key": places.secret(storage.access_key),
        "secret_key": places.secret(storage.secret_key),
        "force_virtual_addressing": not storage.path_style,
    }
    return {name: value for name, value in said.items() if value is not None}
