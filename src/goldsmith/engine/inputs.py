"""A stage's inputs: what of each will be read, and then the rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from goldsmith.catalog.datasets import Source
from goldsmith.checks.native.stored import Stored
from goldsmith.engine import staging, stored
from goldsmith.engine.lake import LakeTable
from goldsmith.engine.ledger import Consumed
from goldsmith.engine.names import literal, name
from goldsmith.engine.readers import files as file_reader
from goldsmith.engine.readers import schemas
from goldsmith.engine.readers.source_file import SOURCE_FILE
from goldsmith.engine.readers.tables import read_new
from goldsmith.engine.work import Tools, Work
from goldsmith.planning.explain import dataset_kind, read_of
from goldsmith.planning.files import FileSeen
from goldsmith.planning.lake import Since, history
from goldsmith.planning.neighbourhood import Dataset, Neighbourhood
from goldsmith.planning.window import Window
from goldsmith.planning.words import layer_of, write_mode_of

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
    #: Everything the target held is replaced: what is read is all there is to it.
    starts_over: bool = False
    #: What of it the ledger is told; None: all of it.
    noted: Consumed | None = None
    #: Only rows of this window are read of the first input.
    rows_of: RowsOf | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RowsOf:
    """Rows whose column says a time within a window."""

    column: str
    window: Window


def choose(work: Work, tools: Tools, *, all_because: str | None = None) -> Chosen:
    """Which files and snapshots are read: what is new, or all where the stage needs all.

    `all_because` is a reason to read everything, whatever is new.
    """
    if work.asked.replay is not None:
        because = "rows of its quarantine are sent through it again"
        return Chosen(consumed=Consumed(), rewritten=(), since={}, because=because)
    files: dict[str, list[FileSeen]] = {}
    snapshots: dict[str, str] = {}
    since: dict[str, str | None] = {}
    rewritten: list[str] = []
    reasons = [] if all_because is None else [all_because]
    starts_over = work.asked.full_refresh
    for place, dataset in enumerate(work.near.inputs):
        everything = all_because is not None or read_of(work.near, place) == "all"
        match dataset_kind(dataset):
            case "files":
                there = tools.increments.files(dataset)
                known = tools.increments.known_files(work.near, dataset)
                new = tools.increments.new_files(work.near, dataset, known)
                rewritten += [file.path for file in new if file.path in known]
                files[dataset.dataset_id] = there if everything else new
                if new:
                    reasons.append(f"{dataset.dataset_id}: {len(new)} new files")
            case "table":
                past = history(dataset, tools.places)
                before = tools.increments.read_up_to(work.near, dataset)
                happened = past.since(before)
                again = Again.YES if everything else _again(work, dataset, happened)
                starts_over = starts_over or again is Again.FROM_SCRATCH
                since[dataset.dataset_id] = before if again is Again.NO else None
                if past.current is not None:
                    snapshots[dataset.dataset_id] = past.current
                    if happened not in (Since.NOTHING, Since.LAID_OUT):
                        reasons.append(f"{dataset.dataset_id}: {_SAID[happened]}")
            case _:
                reasons.append(f"{dataset.dataset_id}: a warehouse table")
    volatile = work.near.facts.volatile if work.near.facts else ()
    if volatile:
        reasons.append(f"its SQL asks for {', '.join(volatile)}")
    return Chosen(
        consumed=Consumed(files=files, snapshots=snapshots),
        rewritten=() if starts_over else tuple(rewritten),
        since=since,
        because="; ".join(reasons) or None,
        starts_over=starts_over,
    )


_SAID = {
    Since.NEVER_READ: "a new snapshot",
    Since.ADDED: "a new snapshot",
    Since.CHANGED: "a new snapshot",
    Since.TAKEN_BACK: "it was restored, so everything is read again",
    Since.EXPIRED: "the snapshot read before has expired, so everything is read again",
}


class Again(StrEnum):
    """Whether an input that is read in parts has to be read again from its beginning."""

    NO = "no"
    #: And put over what is there: keys find their rows.
    YES = "yes"
    #: And in the place of what is there.
    FROM_SCRATCH = "from scratch"


def _again(work: Work, dataset: Dataset, happened: Since) -> Again:
    """What the past of an input means for a stage that has read some of it."""
    appends = work.near.words.write_mode == "append"
    match happened:
        case Since.TAKEN_BACK:
            # An input that keeps all it was ever given holds all a stage has to know; one that
            # is overwritten does not, and what the stage keeps of earlier days has to stay.
            keeps = all(write_mode_of(writer) != "overwrite" for writer in dataset.writers)
            return Again.FROM_SCRATCH if appends or keeps else Again.YES
        case Since.EXPIRED:
            return Again.FROM_SCRATCH if appends else Again.YES
        case Since.CHANGED if appends:
            # Rows of it were replaced: appended beside the ones they replace they would be twice.
            return Again.FROM_SCRATCH
        case _:
            return Again.NO


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
        dataset_id = dataset.dataset_id
        match dataset_kind(dataset):
            case "files":
                found = _files(spark, dataset, chosen.consumed.files[dataset_id], tools)
                if found.malformed is not None:
                    malformed[dataset_id] = found.malformed
                    if reads_all:
                        found, counted[dataset_id] = _counting(found)
                rows[dataset_id] = found.rows
            case "table":
                rows[dataset_id] = _rows_of_table(spark, dataset, chosen)
            case _:
                rows[dataset_id] = _warehouse(spark, work, dataset, tools)
    first = work.near.inputs[0].dataset_id if work.near.inputs else ""
    if chosen.rows_of is not None:
        rows[first] = rows[first].where(in_window(rows[first].schema, chosen.rows_of))
    if work.asked.limit is not None and first:
        rows[first] = rows[first].limit(work.asked.limit)
    return Read(rows=rows, malformed=malformed, counted=counted)


def _counting(found: file_reader.FilesRead) -> tuple[file_reader.FilesRead, Observation]:
    """The same records; the malformed among them are counted in whatever pass reads them all."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    seen = Observation("goldsmith_malformed")
    number = F.count(F.when(found.is_malformed, F.lit(1))).alias("malformed")
    return replace(found, all_rows=found.all_rows.observe(seen, number)), seen


def in_window(schema: StructType, rows_of: RowsOf) -> str:
    """SQL for: the row is of the window. What is no time is of none."""
    from pyspark.sql.types import StringType

    column = name(rows_of.column)
    if isinstance(schema[rows_of.column].dataType, StringType):
        column = f"try_cast({column} AS TIMESTAMP)"
    start, end = (
        f"TIMESTAMP {literal(f'{at:%Y-%m-%d %H:%M:%S.%f}')}"
        for at in (rows_of.window.start, rows_of.window.end)
    )
    return f"{column} >= {start} AND {column} < {end}"


class Whole(NamedTuple):
    """All rows of a dataset, and the files they lie in if these hold nothing else."""

    rows: DataFrame
    stored: Stored | None = None


def everything(spark: SparkSession, dataset: Dataset, tools: Tools, scratch: str) -> Whole:
    """All rows of a dataset as they are published; a warehouse's are put into `scratch` first."""
    match dataset_kind(dataset):
        case "files":
            files = tools.increments.files(dataset)
            return Whole(_files(spark, dataset, files, tools).rows.drop(SOURCE_FILE))
        case "table":
            table = _table(spark, dataset)
            # One snapshot, however often it is read and whoever publishes meanwhile.
            snapshot = table.current_snapshot()
            if snapshot is None:
                return Whole(spark.read.table(table.sql_name))
            rows = spark.read.option("versionAsOf", snapshot).table(table.sql_name)
            return Whole(rows, stored.of_table(tools.places, table.parts[1:], snapshot))
        case _:
            assert dataset.target is not None
            location = dataset.target.location or dataset.target.target_id
            folder = f"{scratch}/{location}"
            tools.warehouse(str(dataset.target.type)).unload(location, folder)
            return Whole(spark.read.parquet(staging.for_spark(folder)))


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
