"""Rows of a quarantine sent through their stage again, mended, each once.

Before anything is written the rows are marked with the stage run that takes them along. Whether
they are gone is decided by the same one thing as everything else: was that stage run published?
Marked rows of a stage run that was not are in the quarantine as before.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from goldsmith.engine import faults, quarantine
from goldsmith.engine.lake import LakeTable
from goldsmith.engine.names import literal
from goldsmith.engine.work import Replay, Tools, Work
from goldsmith.errors import GoldsmithError
from goldsmith.journal.definitions import stage_runs
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import RunStatus

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

VIEW = "quarantined"
_MARKS = ("_id", "_checks", "_reasons", "_text", "_kept_at", "_stage_run_id")


@dataclass(eq=False, kw_only=True)
class NothingToReplay(GoldsmithError):
    """A quarantine holds no row that could be sent through its stage."""

    exit_code = 1

    dataset: str

    def __str__(self) -> str:
        return f"The quarantine of '{self.dataset}' holds no row to replay."

    @property
    def hint(self) -> str:
        return "`goldsmith quarantine show DATASET` has what is there."


@dataclass(eq=False, kw_only=True)
class CannotReplay(GoldsmithError):
    """Mended rows cannot be told apart, or their stage replaces every row."""

    exit_code = 1

    dataset: str
    cause: str

    def __str__(self) -> str:
        return f"Rows of '{self.dataset}' cannot be replayed: {self.cause}."

    @property
    def hint(self) -> str:
        return (
            "`--sql` selects from the view `quarantined` and keeps its column _id, as in SELECT * "
            "FROM quarantined; a file has the column _id too: it says which rows were mended."
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Mended:
    """Mended rows in the target's columns, and the rows of the quarantine they stand for."""

    rows: DataFrame
    table: LakeTable
    stage_run_id: str

    def forget(self) -> None:
        """Remove what was replayed; the stage run was published."""
        mine = f"_replayed_by = {literal(self.stage_run_id)}"
        self.table.spark.sql(f"DELETE FROM {self.table.sql_name} WHERE {mine}")


def mended(spark: SparkSession, work: Work, tools: Tools, replay: Replay) -> Mended:
    """The rows a replay sends through the stage, taken out of the quarantine for it."""
    dataset = str(work.near.stage.target_id)
    if work.near.words.write_mode == "overwrite":
        raise CannotReplay(dataset=dataset, cause="its stage replaces every row; run it again")
    kept = quarantine.table(spark, dataset)
    if not kept.exists():
        raise NothingToReplay(dataset=dataset)
    published = published_by(tools.journal, dataset)
    _forget_replayed(kept, published)
    there = _waiting(spark, kept, published)
    if replay.run_id is not None:
        there = there.where(f"_run_id = {literal(replay.run_id)}")
    rows = _mended(spark, there, replay, dataset)
    if "_id" not in rows.columns:
        raise CannotReplay(dataset=dataset, cause="the mended rows have no column _id")
    # Once, whatever the SQL: what is marked is what is written.
    rows = rows.localCheckpoint(eager=True)
    ids = [row["_id"] for row in rows.select("_id").collect()]
    _refuse_strangers(dataset, ids, {row["_id"] for row in there.select("_id").collect()})
    _mark(kept, work.stage_run_id, ids)
    faults.reach("replay-marked")
    held = rows.drop(*(name for name in _MARKS if name in rows.columns))
    return Mended(rows=held, table=kept, stage_run_id=work.stage_run_id)


def _forget_replayed(kept: LakeTable, published: Collection[str]) -> None:
    """Remove what a replay took along that was published, and killed before it removed them."""
    from pyspark.sql import functions as F

    rows = kept.spark.table(kept.sql_name)
    taken = rows.where(F.col("_replayed_by").isNotNull()).select("_replayed_by").distinct()
    over = sorted({row["_replayed_by"] for row in taken.collect()} & set(published))
    if over:
        listed = ", ".join(literal(one) for one in over)
        kept.spark.sql(f"DELETE FROM {kept.sql_name} WHERE _replayed_by IN ({listed})")


def _waiting(spark: SparkSession, kept: LakeTable, published: Collection[str]) -> DataFrame:
    """Rows of the quarantine that count and that no published stage run has taken along."""
    from pyspark.sql import functions as F

    rows = spark.table(kept.sql_name)
    return rows.where(
        _one_of("_stage_run_id", published)
        & ~F.coalesce(_one_of("_replayed_by", published), F.lit(False))
    )


def _one_of(column: str, values: Iterable[str]) -> Column:
    from pyspark.sql import functions as F

    return F.col(column).isin(*values)


def published_by(journal: Journal, dataset: str) -> set[str]:
    """Stage runs of a dataset that were published."""
    asked = sa.select(stage_runs.c.stage_run_id).where(
        stage_runs.c.target_id == dataset, stage_runs.c.status == RunStatus.SUCCEEDED.value
    )
    with journal.reading() as connection:
        return set(connection.execute(asked).scalars())


def _mended(spark: SparkSession, there: DataFrame, replay: Replay, dataset: str) -> DataFrame:
    if replay.file is not None:
        return _of_file(spark, replay.file)
    _typed(there, dataset).createOrReplaceTempView(VIEW)
    return spark.sql(replay.sql or f"SELECT * FROM {VIEW} WHERE _text IS NULL")


def _typed(there: DataFrame, dataset: str) -> DataFrame:
    """The rows in their own columns, which the newest of them say, beside why they are here."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructType

    newest = there.where("_row IS NOT NULL").orderBy(F.col("_kept_at").desc())
    found = newest.select("_schema").limit(1).collect()
    if not found:
        if there.isEmpty():
            raise NothingToReplay(dataset=dataset)
        return there.select(*_MARKS)
    schema = StructType.fromJson(json.loads(found[0]["_schema"]))
    held = F.from_json(F.col("_row"), schema, quarantine.AS_JSON)
    return there.select(held.alias("_held"), *_MARKS).select("_held.*", *_MARKS)


def _of_file(spark: SparkSession, file: str) -> DataFrame:
    ending = file.rsplit(".", 1)[-1].lower()
    match ending:
        case "parquet":
            return spark.read.parquet(file)
        case "csv":
            return spark.read.option("header", True).option("inferSchema", True).csv(file)
        case _:
            return spark.read.json(file)


def _refuse_strangers(dataset: str, ids: list[str], known: set[str]) -> None:
    strange = next((one for one in ids if one not in known), None)
    if strange is not None or len(set(ids)) != len(ids):
        cause = (
            f"the row {strange} is not in the quarantine, or was replayed"
            if strange is not None
            else "two mended rows have the same _id"
        )
        raise CannotReplay(dataset=dataset, cause=cause)
    if not ids:
        raise NothingToReplay(dataset=dataset)


def _mark(kept: LakeTable, stage_run_id: str, ids: list[str]) -> None:
    from pyspark.sql import Row

    spark = kept.spark
    spark.createDataFrame([Row(_id=one) for one in ids]).createOrReplaceTempView("goldsmith_taken")
    spark.sql(
        f"MERGE INTO {kept.sql_name} t USING goldsmith_taken s ON t._id = s._id"
        f" WHEN MATCHED THEN UPDATE SET t._replayed_by = {literal(stage_run_id)}"
    )
