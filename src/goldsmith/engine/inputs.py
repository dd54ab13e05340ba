"""A stage's inputs: what of each will be read, and then the rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goldsmith.catalog.datasets import Source
from goldsmith.engine import staging
from goldsmith.engine.lake import LakeTable
from goldsmith.engine.ledger import Consumed
from goldsmith.engine.readers import files as file_reader
from goldsmith.engine.readers import schemas
from goldsmith.engine.readers.tables import read_new
from goldsmith.engine.work import Tools, Work
from goldsmith.planning.explain import dataset_kind, read_of
from goldsmith.planning.files import FileSeen
from goldsmith.planning.lake import current_snapshot
from goldsmith.planning.neighbourhood import Dataset, Neighbourhood
from goldsmith.planning.words import layer_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
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


def read(spark: SparkSession, work: Work, chosen: Chosen, tools: Tools) -> Read:
    """The rows that were chosen, as DataFrames; nothing is evaluated yet."""
    rows: dict[str, DataFrame] = {}
    malformed: dict[str, DataFrame] = {}
    for dataset in work.near.inputs:
        name = dataset.dataset_id
        match dataset_kind(dataset):
            case "files":
                found = _files(spark, dataset, chosen.consumed.files[name], tools)
                rows[name] = found.rows
                if found.malformed is not None:
                    malformed[name] = found.malformed
            case "table":
                rows[name] = _rows_of_table(spark, dataset, chosen)
            case _:
                rows[name] = _warehouse(spark, work, dataset, tools)
    if work.asked.limit is not None and work.near.inputs:
        first = work.near.inputs[0].dataset_id
        rows[first] = rows[first].limit(work.asked.limit)
    return Read(rows=rows, malformed=malformed)


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
    folder = _unloaded(dataset, tools, work.stage_run_id)
    tools.warehouse(str(target.type)).unload(target.location or target.target_id, folder)
    return spark.read.parquet(staging.for_spark(folder))


def _unloaded(dataset: Dataset, tools: Tools, stage_run_id: str) -> str:
    """Where the rows of a warehouse table lie while a stage run reads them."""
    assert dataset.target is not None
    settings = tools.places.settings.warehouses[str(dataset.target.type)]
    return f"{staging.folder(tools.places, settings, stage_run_id)}-in"


def let_go(near: Neighbourhood, tools: Tools, stage_run_id: str) -> None:
    """Take away what was unloaded for a stage run."""
    for dataset in near.inputs:
        if dataset_kind(dataset) not in ("files", "table"):
            staging.remove(tools.places, _unloaded(dataset, tools, stage_run_id))
