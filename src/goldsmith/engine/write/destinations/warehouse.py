"""A warehouse table as a destination: Parquet in staging, published in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from goldsmith.catalog.datasets import Target
from goldsmith.catalog.write_modes import WRITE_MODES, Replaces
from goldsmith.engine import faults
from goldsmith.engine.names import name
from goldsmith.engine.quarantine.row_router import DROP, GOOD, QUARANTINE, ROUTE
from goldsmith.engine.warehouses.warehouse import Load, LoadColumn, Loaded, Warehouse
from goldsmith.engine.write.destinations.destination import Published, StagedWrite, WriteRequest
from goldsmith.engine.write.stage_rows import StagedRows, stage_rows
from goldsmith.errors import GoldsmithError
from goldsmith.storage import staging
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType


@dataclass(eq=False, kw_only=True)
class NotMeasuredThere(GoldsmithError):
    """A check with the scope `table` on a warehouse table, which cannot show unpublished rows."""

    target: str
    type: str

    def __str__(self) -> str:
        return f"'{self.target}' lies in {self.type}, which shows no table before it is published."

    @property
    def hint(self) -> str:
        return "Use `scope: batch`, or `goldsmith checks run DATASET` on what was published."


class WarehouseDestination:
    """A warehouse table that a stage writes."""

    def __init__(self, storage: Storage, target: Target, warehouse: Warehouse) -> None:
        self.target = target
        self.storage = storage
        self.warehouse = warehouse
        self.location = target.location or target.target_id
        self.resource = f"{target.type}:{self.location}"
        #: Lock for concurrent loads of the table: see `Load.lock`.
        self.lock: str | None = None

    def schema(self, rows: DataFrame) -> StructType | None:
        """The table's columns, with the types of the rows: the warehouse converts types."""
        from pyspark.sql.types import StructField, StructType

        table_columns = self.warehouse.columns(self.location)
        if table_columns is None:
            return None
        known = {column.lower() for column in table_columns}
        given = [field for field in rows.schema.fields if field.name.lower() in known]
        return StructType([StructField(f.name, f.dataType, f.nullable) for f in given])

    def write_staged(self, request: WriteRequest) -> StagedWrite:
        folder = self._folder(request.stage_run_id)
        staged_rows = stage_rows(request, self.storage, folder, target=self.target.target_id)
        samples = request.sample_broken_rows(
            staged_rows.rows, staged_rows.measured, staged_rows.beside, staged_rows.repeats
        )
        staged, good = self._good(request, staged_rows)
        faults.reach("staged")
        faults.reach("written")
        return StagedWrite(
            measured={**staged_rows.measured, "staged": staged, "folder": good},
            beside=staged_rows.beside,
            good=staged_rows.counts[GOOD],
            quarantined=staged_rows.counts[QUARANTINE],
            dropped=staged_rows.counts[DROP],
            samples=samples,
        )

    def _good(self, request: WriteRequest, staged_rows: StagedRows) -> tuple[int, str]:
        """Number of rows to load and the folder that holds only them."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        folder = self._folder(request.stage_run_id)
        good_folder = f"{folder}/{ROUTE}={GOOD}"
        good = staged_rows.of(GOOD)
        written = _plain(good)
        deduplicate = WRITE_MODES.get(request.mode).deduplicate
        if deduplicate is not None:
            written = deduplicate(written, request.keys, request.watermark)
        elif staged_rows.counts[GOOD] and not staged_rows.moved and written is good:
            return staged_rows.counts[GOOD], good_folder
        seen = Observation("goldsmith_staged")
        written = written.observe(seen, F.count(F.lit(1)).alias("rows"))
        writer = written.write.mode("overwrite")
        if request.pace is not None:
            writer = writer.option("maxRecordsPerFile", request.pace.rows_per_file)
        writer.parquet(staging.for_spark(f"{folder}/good"))
        return int(seen.get["rows"]), f"{folder}/good"

    def publish(self, request: WriteRequest, staged_write: StagedWrite, token: int) -> Published:
        columns = tuple(
            LoadColumn(name=field.name, type=_staged_type(field.dataType))
            for field in request.fitted.plain.schema.fields
        )
        replaced = None
        if request.replaced_rows is not None and request.replaces is Replaces.NOTHING:
            window = request.replaced_rows.window
            replaced = (request.replaced_rows.column, window.start, window.end)
        load = Load(
            stage_run_id=request.stage_run_id,
            location=self.location,
            mode=request.mode,
            columns=columns,
            staged=str(staged_write.measured["folder"]),
            rows=int(staged_write.measured["staged"]),
            token=token,
            keys=request.keys,
            watermark=request.watermark,
            from_scratch=request.from_scratch,
            replaced=replaced,
            replaced_files=request.replaced_files,
            options=self.target.options,
            stage_options=request.options,
            lock=self.lock,
            table_id=request.table_uuid,
            groups=self._groups(request, str(staged_write.measured["folder"])),
        )
        loaded = self.warehouse.load(load, faults.reach)
        faults.reach("published")
        staging.remove(self.storage, self._folder(request.stage_run_id))
        faults.reach("staged-removed")
        return _published(loaded)

    def _groups(
        self, request: WriteRequest, folder: str
    ) -> Callable[[], Generator[tuple[str, ...]]] | None:
        return None if request.pace is None else partial(request.pace.groups, folder)

    def published(self, stage_run_id: str) -> Published | None:
        loaded = self.warehouse.loaded(self.location, stage_run_id)
        return None if loaded is None else _published(loaded)

    def as_published(self, request: WriteRequest) -> DataFrame:
        raise NotMeasuredThere(target=self.target.target_id, type=str(self.target.type))

    def clean(self, stage_run_id: str) -> None:
        self.warehouse.clean(self.location, stage_run_id)
        staging.remove(self.storage, self._folder(stage_run_id))

    def elsewhere(self, table_name: str) -> WarehouseDestination:
        type_, _, location = table_name.partition(":")
        was = self.target.with_(location=location) if type_ == self.target.type else self.target
        return WarehouseDestination(self.storage, was, self.warehouse)

    def cancel(self) -> bool:
        return self.warehouse.cancel()

    def _folder(self, stage_run_id: str) -> str:
        settings = self.storage.settings.warehouses[str(self.target.type)]
        return staging.folder(self.storage, settings, stage_run_id)


def _plain(rows: DataFrame) -> DataFrame:
    """Convert columns that contain a VARIANT to JSON text: only Spark reads its binary form."""
    from pyspark.sql import functions as F

    texts = {
        field.name: F.to_json(F.col(name(field.name)))
        for field in rows.schema.fields
        if _has_variant(field.dataType)
    }
    return rows.withColumns(texts) if texts else rows


def _staged_type(type_: DataType) -> str:
    """The type name of a column in a `Load`."""
    return "variant" if _has_variant(type_) else type_.simpleString()


def _has_variant(type_: DataType) -> bool:
    from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

    match type_:
        case VariantType():
            return True
        case ArrayType():
            return _has_variant(type_.elementType)
        case MapType():
            return _has_variant(type_.valueType)
        case StructType():
            return any(_has_variant(field.dataType) for field in type_.fields)
    return False


def _published(loaded: Loaded) -> Published:
    return Published(snapshot=loaded.stage_run_id, rows=loaded.rows, table_uuid=loaded.table_id)
