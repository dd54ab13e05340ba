"""Send fixed rows of a quarantine through their stage again, each once.

Before the write, the rows are marked with the id of the stage run that replays them. Once that
stage run is published, the rows are no longer live. They stay in the quarantine table: a restore
that undoes the stage run makes them live again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from goldsmith.engine import faults
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.lake.lake_table import LakeTable
from goldsmith.engine.names import literal, name
from goldsmith.engine.quarantine import quarantine_table, row_text
from goldsmith.engine.quarantine.liveness import COLUMNS, liveness_of
from goldsmith.engine.read import backfill, fixed_rows_file
from goldsmith.engine.read.inputs import in_window
from goldsmith.engine.shape.shape import SOURCE_FILE
from goldsmith.errors import GoldsmithError, count
from goldsmith.planning.input_selection import RowWindow
from goldsmith.planning.provenance import keeps_time
from goldsmith.planning.resolved_stage import is_lake
from goldsmith.planning.window_read import NotIdempotent
from goldsmith.storage.lake_tables import table_at

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

VIEW = "quarantined"
#: Columns of the view besides the rows' own.
_MARKS = ("_id", "_checks", "_reasons", "_text", "_kept_at", "_stage_run_id")
_ID = "_goldsmith_id"


@dataclass(eq=False, kw_only=True)
class NothingToReplay(GoldsmithError):
    """The quarantine has no live row that was selected for the replay."""

    exit_code = 1

    dataset: str
    #: Number of live rows that were not selected.
    others: int = 0

    def __str__(self) -> str:
        if not self.others:
            return f"Nothing to replay: the quarantine of '{self.dataset}' has no live row."
        rows = f"{count(self.others, 'live row')} of '{self.dataset}'"
        return f"Nothing to replay: none of the {rows} was selected."

    @property
    def hint(self) -> str:
        return "`goldsmith quarantine show DATASET` has what is there."


@dataclass(eq=False, kw_only=True)
class CannotReplay(GoldsmithError):
    """Fixed rows have no usable id, cannot be read, or their stage replaces every row."""

    exit_code = 1

    dataset: str
    cause: str
    #: What to do about it.
    advice: str

    def __str__(self) -> str:
        return f"Rows of '{self.dataset}' cannot be replayed: {self.cause}."

    @property
    def hint(self) -> str:
        return f"{self.advice} Nothing was published, and the rows are where they were."


_NAME_ROWS = (
    "`--sql` selects from the view `quarantined` and keeps its column _id, as in SELECT * "
    "FROM quarantined; a file has the column _id too: it names the row that each line fixes. "
    "Where the rows have an _id of their own, ours is called _quarantine_id."
)
_SHOW_IDS = "`goldsmith quarantine show DATASET` has the live rows, each with its id."


class ReplayedRows(NamedTuple):
    """The rows a replay sends through the stage."""

    rows: DataFrame
    #: Days, old and new, of rows whose time the replay changes.
    moved_days: tuple[str, ...]


def rows_to_replay(
    spark: SparkSession, attempt: Attempt, resources: WorkerResources
) -> ReplayedRows:
    """The rows to replay, after marking them with the stage run's id in the quarantine."""
    replay = attempt.run_options.replay
    assert replay is not None  # only a replay calls this
    dataset = str(attempt.context.stage.target_id)
    if not attempt.context.resolved.replaces.keeps_rows:
        raise CannotReplay(
            dataset=dataset,
            cause="its stage replaces every row",
            advice="Correct the input or the rule, and `goldsmith run` the stage again.",
        )
    quarantine = quarantine_table.table(spark, dataset)
    others = resources.increments.ledgers.of_others(attempt.context)
    alive = live_ids(resources, dataset, lambda ledger: ledger not in others, replay.run_id)
    if not alive:
        raise NothingToReplay(dataset=dataset)
    quarantined = rows_with_ids(quarantine, alive)
    schemas = _schemas(quarantined)
    marks = _named_apart([*_target_columns(attempt, resources), *_columns(schemas)])
    known = schemas or _of_target(spark, attempt)
    typed = _typed(quarantined, known, marks, dataset)
    mark = marks["_id"]
    if replay.file is not None:
        rows = _of_file(spark, replay.file, known, mark, dataset)
    else:
        typed.createOrReplaceTempView(VIEW)
        unchanged_sql = f"SELECT * FROM {VIEW} WHERE {name(marks['_text'])} IS NULL"
        rows = spark.sql(replay.sql or unchanged_sql)
    if mark not in rows.columns:
        cause = f"the fixed rows have no column {mark}, which names the quarantined row"
        raise CannotReplay(dataset=dataset, cause=cause, advice=_NAME_ROWS)
    if replay.file is not None:
        rows = _with_other_columns(rows, typed, mark)
    # The SQL runs once, so that the rows marked are the rows written.
    rows = rows.localCheckpoint(eager=True)
    ids = [row[0] for row in rows.select(name(mark)).collect()]
    if not ids:
        raise NothingToReplay(dataset=dataset, others=len(alive))
    _refuse_unknown_ids(dataset, ids, set(alive), mark)
    mark_taken(quarantine, attempt.stage_run_id, ids)
    faults.reach("replay-marked")
    rows = rows.withColumnRenamed(mark, _ID).drop(*marks.values())
    moved = _moved_days(rows, quarantined, attempt.context.stage.watermark_column)
    return ReplayedRows(_with_origin(rows, quarantined, attempt).drop(_ID), moved)


def _moved_days(rows: DataFrame, there: DataFrame, column: str | None) -> tuple[str, ...]:
    """Days, old and new, of rows whose time in the replay differs from the quarantined one."""
    from pyspark.sql import functions as F

    if column is None:
        return ()
    has_time = column.lower() in {row_column.lower() for row_column in rows.columns}
    now = F.col(name(column)) if has_time else F.lit(None)
    times = rows.select(_ID, now.try_cast("timestamp").alias("now")).join(
        there.select(F.col("_id").alias(_ID), _time(column).try_cast("timestamp").alias("before")),
        _ID,
    )
    moved = times.where(~F.col("now").eqNullSafe(F.col("before")))
    days = [F.date_format(time, "yyyy-MM-dd").alias(time) for time in ("now", "before")]
    found = moved.select(*days).distinct().collect()
    return tuple(sorted({day for row in found for day in row if day is not None}))


def _time(column: str) -> Column:
    """The time of a quarantined row, as text."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    read = F.from_json(F.col("_row"), StructType([StructField(column, StringType())]))
    return read.getField(column)


def take_window(
    spark: SparkSession, attempt: Attempt, resources: WorkerResources, rows_of: RowWindow | None
) -> None:
    """Mark live quarantined rows in a backfill's window: the backfill reads them again."""
    if rows_of is None:
        return
    dataset = str(attempt.context.stage.target_id)
    mine = resources.increments.ledger(attempt.context).ledger_id
    alive = live_ids(resources, dataset, lambda ledger: ledger == mine)
    if not alive:
        return
    if not keeps_time(attempt.context, rows_of.column):
        reason = (
            f"its SQL does not pass the input's column '{rows_of.column}' unchanged, so nobody can"
            f" tell which of its {len(alive):,} quarantined rows are of the window: replay or"
            " discard them first"
        )
        raise NotIdempotent(stage=attempt.context.stage_id, reason=reason)
    quarantine = quarantine_table.table(spark, dataset)
    rows = rows_with_ids(quarantine, alive).select(
        "_id", _time(rows_of.column).alias(rows_of.column)
    )
    ids = [row["_id"] for row in rows.where(in_window(rows.schema, rows_of)).collect()]
    if ids:
        mark_taken(quarantine, attempt.stage_run_id, ids)
    faults.reach("replay-marked")


def live_ids(
    resources: WorkerResources,
    dataset: str,
    is_meant: Callable[[str], bool],
    run_id: str | None = None,
) -> list[str]:
    """Ids of live rows whose ledger satisfies `is_meant`; the caller holds the target's lease."""
    table = table_at(resources.storage, quarantine_table.name_of(dataset))
    if table is None:
        return []
    found = table.scan(selected_fields=("_id", "_run_id", *COLUMNS)).to_arrow().to_pylist()
    now = liveness_of(resources.journal, dataset, found)
    return [
        row["_id"]
        for row in found
        if now.is_live(row)
        and is_meant(now.ledgers[row["_stage_run_id"]])
        and (run_id is None or row["_run_id"] == run_id)
    ]


def rows_with_ids(quarantine: LakeTable, ids: Sequence[str]) -> DataFrame:
    """The rows of a quarantine with these ids."""
    spark = quarantine.spark
    spark.catalog.refreshTable(quarantine.sql_name)  # it may have been written without Spark
    listed = spark.createDataFrame([(row_id,) for row_id in ids], "_id STRING")
    return spark.table(quarantine.sql_name).join(listed, "_id", "left_semi")


def _schemas(quarantined: DataFrame) -> dict[str, StructType]:
    """The schemas of the quarantined rows, by their JSON text."""
    from pyspark.sql.types import StructType

    found = quarantined.where("_row IS NOT NULL").select("_schema").distinct().collect()
    texts = sorted(str(row["_schema"]) for row in found)
    return {text: StructType.fromJson(json.loads(text)) for text in texts}


def _of_target(spark: SparkSession, attempt: Attempt) -> dict[str, StructType]:
    """The schema of a lake target, for records that could not be parsed."""
    resolved, target = attempt.context.resolved, str(attempt.context.stage.target_id)
    table = LakeTable(spark, resolved.layer, target.replace(".", "__"))
    is_there = (
        attempt.context.target is not None
        and is_lake(attempt.context.target.target)
        and table.exists()
    )
    return {"": table.schema()} if is_there else {}


def _columns(schemas: Mapping[str, StructType]) -> list[str]:
    return [column for schema in schemas.values() for column in schema.names]


def _target_columns(attempt: Attempt, resources: WorkerResources) -> Iterable[str]:
    assert attempt.context.target is not None  # integrity refuses a stage without one
    return backfill.columns(attempt.context.target, resources.storage, resources.warehouse) or ()


def _named_apart(own: Iterable[str]) -> dict[str, str]:
    """Names for the view's own columns that differ from the rows' columns."""
    taken = {column.lower() for column in own}
    return {mark: _other_than(taken, mark) for mark in _MARKS}


def _other_than(taken: set[str], mark: str) -> str:
    return mark if mark not in taken else _other_than(taken, f"_quarantine{mark}")


def _typed(
    quarantined: DataFrame,
    schemas: Mapping[str, StructType],
    marks: Mapping[str, str],
    dataset: str,
) -> DataFrame:
    """The quarantined rows in their own columns, plus the columns of `marks`."""
    from pyspark.sql import functions as F

    _refuse_other_types(dataset, schemas.values())
    marked = [F.col(mark).alias(called) for mark, called in marks.items()]
    parts = [
        quarantined.where(F.col("_schema") == text)
        .select(row_text.from_text(F.col("_row"), schema).alias(_ID), *marked)
        .select(f"{_ID}.*", *(name(called) for called in marks.values()))
        for text, schema in schemas.items()
    ]
    parts.append(quarantined.where("_row IS NULL").select(*marked))
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)


def _refuse_other_types(dataset: str, schemas: Iterable[StructType]) -> None:
    """Raise if rows have a column in different types, which a union would cast to one type."""
    from pyspark.sql.types import NumericType

    known: dict[str, DataType] = {}
    for field in (field for schema in schemas for field in schema.fields):
        before = known.setdefault(field.name.lower(), field.dataType)
        same_type = before.simpleString() == field.dataType.simpleString()
        numbers = isinstance(before, NumericType) and isinstance(field.dataType, NumericType)
        if not same_type and not numbers:
            cause = (
                f"column {field.name} is {before.simpleString()} in some of them and "
                f"{field.dataType.simpleString()} in others"
            )
            raise CannotReplay(dataset=dataset, cause=cause, advice="--run takes those of one run.")


def _of_file(
    spark: SparkSession, file: str, schemas: Mapping[str, StructType], mark: str, dataset: str
) -> DataFrame:
    """The rows of a file, with the column types of the quarantined rows."""
    known = {f.name.lower(): f.dataType for schema in schemas.values() for f in schema.fields}
    try:
        return fixed_rows_file.read(spark, file, known, mark)
    except fixed_rows_file.FileRefused as refused:
        raise CannotReplay(dataset=dataset, cause=refused.cause, advice=refused.advice) from refused


def _with_other_columns(rows: DataFrame, typed: DataFrame, mark: str) -> DataFrame:
    """The fixed rows; columns that the file lacks keep the quarantined value."""
    there = {column.lower() for column in rows.columns}
    others = [column for column in typed.columns if column.lower() not in there]
    if not others:
        return rows
    return rows.join(typed.select(*(name(column) for column in (mark, *others))), mark, "left")


def _refuse_unknown_ids(dataset: str, ids: list[str], known: set[str], mark: str) -> None:
    unknown_id = next((row_id for row_id in ids if row_id not in known), None)
    if unknown_id is not None or None in ids:
        cause = f"the row {unknown_id} is not in the quarantine of this stage, or was replayed"
        advice = f"{_SHOW_IDS} --stage names another stage that writes the dataset."
        raise CannotReplay(dataset=dataset, cause=cause, advice=advice)
    if len(set(ids)) != len(ids):
        cause = f"two fixed rows have the same {mark}"
        raise CannotReplay(dataset=dataset, cause=cause, advice=_SHOW_IDS)


def _with_origin(rows: DataFrame, quarantined: DataFrame, attempt: Attempt) -> DataFrame:
    """Add bronze's columns: the source file from the quarantine, the time and id of this run."""
    from pyspark.sql import functions as F

    if attempt.context.resolved.layer != "bronze":
        return rows
    files = quarantined.select(F.col("_id").alias(_ID), F.col(SOURCE_FILE))
    at = attempt.loaded_at or attempt.at
    return (
        rows.drop(SOURCE_FILE)
        .join(files, _ID)
        .withColumns({"_ingested_at": F.lit(at), "_run_id": F.lit(attempt.run_id)})
    )


def mark_taken(quarantine: LakeTable, stage_run_id: str, ids: list[str]) -> None:
    spark = quarantine.spark
    spark.createDataFrame([(row_id,) for row_id in ids], "_id STRING").createOrReplaceTempView(
        "goldsmith_taken"
    )
    spark.sql(
        f"MERGE INTO {quarantine.sql_name} t USING goldsmith_taken s ON t._id = s._id"
        f" WHEN MATCHED THEN UPDATE SET t._replayed_by = {literal(stage_run_id)}"
    )
