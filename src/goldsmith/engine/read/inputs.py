"""Read the selected rows of each input."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from goldsmith.catalog.datasets import Source
from goldsmith.checks.parquet_files import ParquetFiles
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.lake import parquet_files as stored
from goldsmith.engine.lake.lake_table import LakeTable
from goldsmith.engine.names import literal, name
from goldsmith.engine.pace import sources
from goldsmith.engine.pace.lake_sources import LakeScan, read_table_paced
from goldsmith.engine.read import files as file_reader
from goldsmith.engine.read import schemas
from goldsmith.engine.read.source_file import SOURCE_FILE
from goldsmith.engine.read.tables import ReadKind, read_new
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.input_selection import InputSelection, RowWindow
from goldsmith.planning.resolved_stage import layer_of
from goldsmith.planning.stage_context import Dataset, StageContext
from goldsmith.storage import staging
from goldsmith.storage.files import ListedFile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession
    from pyspark.sql.types import StructType


@dataclass(frozen=True, kw_only=True, slots=True)
class InputRows:
    """The rows of every input, and the records that could not be parsed."""

    rows: Mapping[str, DataFrame]
    malformed: Mapping[str, DataFrame] = field(default_factory=dict)
    #: Number of malformed records, known after the write; not for every input.
    counted: Mapping[str, Observation] = field(default_factory=dict)
    #: Inferred schemas, as Spark's JSON, to store when the stage run is published.
    schemas: Mapping[str, str] = field(default_factory=dict)


def read(
    spark: SparkSession, attempt: Attempt, selection: InputSelection, resources: WorkerResources
) -> InputRows:
    """Read the selected rows as DataFrames; nothing is evaluated yet."""
    rows: dict[str, DataFrame] = {}
    malformed: dict[str, DataFrame] = {}
    counted: dict[str, Observation] = {}
    inferred: dict[str, str] = {}
    # SQL may stop reading early; without SQL the write reads every record.
    reads_all = attempt.context.resolved.sql is None and attempt.run_options.limit is None
    for dataset in attempt.context.inputs:
        dataset_id = dataset.dataset_id
        match dataset_kind(dataset):
            case "files":
                files = selection.consumed.files[dataset_id]
                found = _paced(spark, attempt, dataset, files, resources, inferred)
                if found.malformed is not None:
                    malformed[dataset_id] = found.malformed
                    if reads_all:
                        found, counted[dataset_id] = _counting(found)
                rows[dataset_id] = found.rows
            case "table":
                rows[dataset_id] = _rows_of_table(spark, attempt, dataset, selection, resources)
            case _:
                rows[dataset_id] = _warehouse(spark, attempt, dataset, resources)
    first = attempt.context.inputs[0].dataset_id if attempt.context.inputs else ""
    if selection.rows_of is not None:
        rows[first] = rows[first].where(in_window(rows[first].schema, selection.rows_of))
    if attempt.run_options.limit is not None and first:
        rows[first] = rows[first].limit(attempt.run_options.limit)
    return InputRows(rows=rows, malformed=malformed, counted=counted, schemas=inferred)


def _counting(found: file_reader.FilesRead) -> tuple[file_reader.FilesRead, Observation]:
    """Add an observation that counts malformed records in the pass that reads all records."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    seen = Observation("goldsmith_malformed")
    number = F.count(F.when(found.is_malformed, F.lit(1))).alias("malformed")
    return replace(found, all_rows=found.all_rows.observe(seen, number)), seen


def in_window(schema: StructType, rows_of: RowWindow) -> str:
    """SQL condition: the row is in the window. Text that is not a time is in no window."""
    from pyspark.sql.types import StringType

    column = name(rows_of.column)
    if isinstance(schema[rows_of.column].dataType, StringType):
        column = f"try_cast({column} AS TIMESTAMP)"
    start, end = (
        f"TIMESTAMP {literal(f'{at:%Y-%m-%d %H:%M:%S.%f}')}"
        for at in (rows_of.window.start, rows_of.window.end)
    )
    return f"{column} >= {start} AND {column} < {end}"


class DatasetRows(NamedTuple):
    """All rows of a dataset, and their Parquet files if these hold no other rows."""

    rows: DataFrame
    stored: ParquetFiles | None = None


def all_rows(
    spark: SparkSession, dataset: Dataset, resources: WorkerResources, scratch: str
) -> DatasetRows:
    """All published rows of a dataset; a warehouse table is unloaded into `scratch` first."""
    match dataset_kind(dataset):
        case "files":
            files = resources.increments.files(dataset)
            return DatasetRows(_files(spark, dataset, files, resources, {}).rows.drop(SOURCE_FILE))
        case "table":
            table = _table(spark, dataset)
            # A fixed snapshot gives the same rows in every pass, even if a run publishes meanwhile.
            snapshot = table.current_snapshot()
            if snapshot is None:
                return DatasetRows(spark.read.table(table.sql_name))
            rows = spark.read.option("versionAsOf", snapshot).table(table.sql_name)
            return DatasetRows(rows, stored.of_table(resources.storage, table.parts[1:], snapshot))
        case _:
            assert dataset.target is not None
            location = dataset.target.location or dataset.target.target_id
            folder = f"{scratch}/{location}"
            resources.warehouse(str(dataset.target.type)).unload(location, folder)
            return DatasetRows(spark.read.parquet(staging.for_spark(folder)))


def _files(
    spark: SparkSession,
    dataset: Dataset,
    files: Sequence[ListedFile],
    resources: WorkerResources,
    inferred: dict[str, str],
) -> file_reader.FilesRead:
    """Read files; a new or changed inferred schema is added to `inferred`."""
    source = dataset.source
    assert source is not None  # a dataset of files has a row in sources
    schema = _schema(spark, source, files, resources, inferred)
    return file_reader.read_files(spark, source, files, resources.storage, schema=schema)


def _paced(
    spark: SparkSession,
    attempt: Attempt,
    dataset: Dataset,
    files: Sequence[ListedFile],
    resources: WorkerResources,
    inferred: dict[str, str],
) -> file_reader.FilesRead:
    """Read files; under a throttle they are read into staging first, in micro-batches."""
    source = dataset.source
    assert source is not None  # a dataset of files has a row in sources
    if not files or not sources.is_paced(attempt, resources, dataset):
        return _files(spark, dataset, files, resources, inferred)
    if (limit := attempt.run_options.limit) is not None:  # a try-out reads few records
        sources.charge(attempt, resources, dataset, records=limit, size=0)
        return _files(spark, dataset, files, resources, inferred)
    schema = _schema(spark, source, files, resources, inferred)

    def read_some(some: Sequence[ListedFile]) -> file_reader.FilesRead:
        return file_reader.read_files(spark, source, some, resources.storage, schema=schema)

    found = read_some(files)
    rows = sources.read_files_paced(
        spark, attempt, resources, dataset, files, found.all_rows, lambda f: read_some(f).all_rows
    )
    return replace(found, all_rows=rows)


def _schema(
    spark: SparkSession,
    source: Source,
    files: Sequence[ListedFile],
    resources: WorkerResources,
    inferred: dict[str, str],
) -> StructType | None:
    """The declared schema, else the stored one with the columns that these files add."""
    from pyspark.sql.types import StructType

    declared = schemas.declared(source, resources.storage)
    if declared is not None:
        return declared
    text = resources.kept_schema(source.source_id)
    stored_schema = None if text is None else StructType.fromJson(json.loads(text))
    if not files:
        return stored_schema
    merged = schemas.merge_inferred(
        stored_schema, schemas.infer(spark, source, files, resources.storage)
    )
    if merged != stored_schema:
        inferred[source.source_id] = merged.json()
    return merged


def _table(spark: SparkSession, dataset: Dataset) -> LakeTable:
    layer = layer_of(dataset.writers[0]) if dataset.writers else "bronze"
    return LakeTable(spark, layer, dataset.dataset_id.replace(".", "__"))


def _rows_of_table(
    spark: SparkSession,
    attempt: Attempt,
    dataset: Dataset,
    selection: InputSelection,
    resources: WorkerResources,
) -> DataFrame:
    until = selection.consumed.snapshots.get(dataset.dataset_id)
    table = _table(spark, dataset)
    if until is None:
        return spark.table(table.sql_name).limit(0)
    since = selection.since.get(dataset.dataset_id)
    found = read_new(spark, table, since, until)
    if found.kind is ReadKind.NOTHING:
        return found.rows
    scan = LakeScan(
        table.parts,
        None if found.kind is ReadKind.ALL else since,
        until,
        of_whole_files=found.kind is not ReadKind.CHANGED,
    )
    return read_table_paced(spark, attempt, resources, dataset, scan, found.rows)


def _warehouse(
    spark: SparkSession, attempt: Attempt, dataset: Dataset, resources: WorkerResources
) -> DataFrame:
    target = dataset.target
    assert target is not None  # a warehouse table has a row in targets
    folder = _unloaded(dataset, resources, attempt.stage_run_id)
    resources.warehouse(str(target.type)).unload(target.location or target.target_id, folder)
    # How much it is, is known only now: the tokens are a debt that others pay.
    sources.charge_folder(attempt, resources, dataset, folder)
    return spark.read.parquet(staging.for_spark(folder))


def _unloaded(dataset: Dataset, resources: WorkerResources, stage_run_id: str) -> str:
    """The folder a warehouse table is unloaded into for a stage run."""
    assert dataset.target is not None
    settings = resources.storage.settings.warehouses[str(dataset.target.type)]
    return f"{staging.folder(resources.storage, settings, stage_run_id)}-in"


def remove_unloaded(context: StageContext, resources: WorkerResources, stage_run_id: str) -> None:
    """Remove the folders unloaded for a stage run."""
    for dataset in context.inputs:
        if dataset_kind(dataset) not in ("files", "table"):
            staging.remove(resources.storage, _unloaded(dataset, resources, stage_run_id))
