"""A stage's inputs: what of each will be read, and then the rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goldsmith.catalog.datasets import Source
from goldsmith.engine import staging
from goldsmith.engine.lake import LakeTable
from goldsmith.engine.ledger import Consumed
from goldsmith.engine.readers import files as file_reader
from goldsmith.engine.readers import schemas
from goldsmith.engine.readers.source_file import SOURCE_FILE
from goldsmith.engine.readers.tables import read_new
from goldsmith.engine.work import Tools, Work
from goldsmith.planning.explain import dataset_kind, read_of
from goldsmith.planning.files import FileSeen
from goldsmith.planning.lake import current_snapshot
from goldsmith.planning.neighbourhood import Dataset
from goldsmith.planning.words import layer_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession
    from pyspark.sql.types import StructType


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """What of the inputs a stage run reads."""

    consumed: Consumed
    #: Files that were read before and have been rewritten since.
    rewritten: tuple[str, ...]
    #: How far each table was read before.
    since: Mapping[str, str | None]
    #: Why there is something to do; None where there is not.
    because: str | None


def choose(work: Work, tools: Tools) -> Chosen:
    """Which files and snapshots are read: what is new, or all where the stage needs all."""
    if work.asked.replay is not None:
        because = "rows of its quarantine are sent through it again"
        return Chosen(consumed=Consumed(), rewritten=(), since={}, because=because)
    files: dict[str, list[FileSeen]] = {}
    snapshots: dict[str, str] = {}
    since: dict[str, str | None] = {}
    rewritten: list[str] = []
    reasons: list[str] = []
    for place, dataset in enumerate(work.near.inputs):
        everything = work.asked.full_refresh or read_of(work.near, place) == "all"
        match dataset_kind(dataset):
            case "files":
                there = tools.increments.files(dataset)
                new = tools.increments.new_files(work.near, dataset)
                known = tools.increments.known_files(work.near, dataset)
                rewritten += [file.path for file in new if file.path in known]
                files[dataset.dataset_id] = there if everything else new
                if new:
                    reasons.append(f"{dataset.dataset_id}: {len(new)} new files")
            case "table":
                newest = current_snapshot(dataset, tools.places)
                before = tools.increments.read_up_to(work.near, dataset)
                since[dataset.dataset_id] = None if everything else before
                if newest is not None:
                    snapshots[dataset.dataset_id] = newest
                    if newest != before:
                        reasons.append(f"{dataset.dataset_id}: a new snapshot")
            case _:
                reasons.append(f"{dataset.dataset_id}: a warehouse table")
    volatile = work.near.facts.volatile if work.near.facts else ()
    if volatile:
        reasons.append(f"its SQL asks for {', '.join(volatile)}")
    if work.asked.full_refresh:
        reasons.append("a full refresh was asked for")
    return Chosen(
        consumed=Consumed(files=files, snapshots=snapshots),
        rewritten=() if work.asked.full_refresh else tuple(rewritten),
        since=since,
        because="; ".join(reasons) or None,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """The rows of every input, and the records that could not be parsed."""

    rows: Mapping[str, DataFrame]
    malformed: Mapping[str, DataFrame] = field(default_factory=dict)
    #: How many of those there are, known once the rows were written; not of every input.
    counted: Mapping[str, Observation] = field(default_factory=dict)


def read(spark: SparkSession, work: Work, chosen: Chosen, tools: Tools) -> Read:
    """The rows that were chosen, as DataFrames; nothing is evaluated yet."""
    rows: dict[str, DataFrame] = {}
    malformed: dict[str, DataFrame] = {}
    counted: dict[str, Observation] = {}
    # SQL may stop reading early; without it every record passes on its way to the table.
    reads_all = work.near.words.sql is None and work.asked.limit is None
    for dataset in work.near.inputs:
        name = dataset.dataset_id
        match dataset_kind(dataset):
            case "files":
                found = _files(spark, dataset, chosen.consumed.files[name], tools)
                if found.malformed is not None:
                    malformed[name] = found.malformed
                    if reads_all:
                        found, counted[name] = _counting(found)
                rows[name] = found.rows
            case "table":
                rows[name] = _rows_of_table(spark, dataset, chosen)
            case _:
                rows[name] = _warehouse(spark, work, dataset, tools)
    if work.asked.limit is not None and work.near.inputs:
        first = work.near.inputs[0].dataset_id
        rows[first] = rows[first].limit(work.asked.limit)
    return Read(rows=rows, malformed=malformed, counted=counted)


def _counting(found: file_reader.FilesRead) -> tuple[file_reader.FilesRead, Observation]:
    """The same records; the malformed among them are counted in whatever pass reads them all."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    seen = Observation("goldsmith_malformed")
    number = F.count(F.when(found.is_malformed, F.lit(1))).alias("malformed")
    return replace(found, all_rows=found.all_rows.observe(seen, number)), seen


def everything(spark: SparkSession, dataset: Dataset, tools: Tools, scratch: str) -> DataFrame:
    """All rows of a dataset as they are published; a warehouse's are put into `scratch` first."""
    match dataset_kind(dataset):
        case "files":
            files = tools.increments.files(dataset)
            return _files(spark, dataset, files, tools).rows.drop(SOURCE_FILE)
        case "table":
            table = _table(spark, dataset)
            # One snapshot, however often it is read and whoever publishes meanwhile.
            snapshot = table.current_snapshot()
            reader = spark.read if snapshot is None else spark.read.option("snapshot-id", snapshot)
            return reader.table(table.sql_name)
        case _:
            assert dataset.target is not None
            location = dataset.target.location or dataset.target.target_id
            folder = f"{scratch}/{location}"
            tools.warehouse(str(dataset.target.type)).unload(location, folder)
            return spark.read.parquet(staging.for_spark(folder))


def _files(
    spark: SparkSession, dataset: Dataset, files: Sequence[FileSeen], tools: Tools
) -> file_reader.FilesRead:
    source = dataset.source
    assert source is not None  # a dataset of files has a row in sources
    schema = _schema(spark, source, files, tools)
    return file_reader.read_files(spark, source, files, tools.places, schema=schema)


def _schema(
    spark: SparkSession, source: Source, files: Sequence[FileSeen], tools: Tools
) -> StructType | None:
    """The schema the row declares, else the one inferred once and kept."""
    from pyspark.sql.types import StructType

    declared = schemas.declared(source, tools.places)
    if declared is not None:
        return declared
    text = tools.kept_schema(source.source_id)
    kept = None if text is None else StructType.fromJson(json.loads(text))
    if not files:
        return kept
    merged = schemas.merge_inferred(kept, schemas.infer(spark, source, files, tools.places))
    if merged != kept:
        tools.keep_schema(source.source_id, merged.json())
    return merged


def _table(spark: SparkSession, dataset: Dataset) -> LakeTable:
    layer = layer_of(dataset.writers[0]) if dataset.writers else "bronze"
    return LakeTable(spark, layer, dataset.dataset_id.replace(".", "__"))


def _rows_of_table(spark: SparkSession, dataset: Dataset, chosen: Chosen) -> DataFrame:
    until = chosen.consumed.snapshots.get(dataset.dataset_id)
    table = _table(spark, dataset)
    if until is None:
        return spark.table(table.sql_name).limit(0)
    return read_new(spark, table, chosen.since.get(dataset.dataset_id), until).rows


def _warehouse(spark: SparkSession, work: Work, dataset: Dataset, tools: Tools) -> DataFrame:
    target = dataset.target
    assert target is not None  # a warehouse table has a row in targets
    type_ = str(target.type)
    settings = tools.places.settings.warehouses[type_]
    folder = f"{staging.folder(tools.places, settings, work.stage_run_id)}-in"
    tools.warehouse(type_).unload(target.location or target.target_id, folder)
    return spark.read.parquet(staging.for_spark(folder))
