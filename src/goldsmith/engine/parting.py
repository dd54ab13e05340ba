"""Rows staged as Parquet, good and broken in folders apart: shaped rows are evaluated once.

What comes after works on those files, which give the same rows however often they are read:
keys are counted, duplicates marked, broken rows kept in the quarantine, good ones published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from goldsmith.checks import bitmap
from goldsmith.checks.evaluate import Measured
from goldsmith.checks.keys import any_null, takes_part
from goldsmith.checks.measures import Keys
from goldsmith.engine import staging, stored
from goldsmith.engine.destinations.destination import Order
from goldsmith.engine.split import ASIDE, GOOD, OUT, SIDE, side_of
from goldsmith.errors import GoldsmithError
from goldsmith.planning.places import Places

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_REPEATS = "_goldsmith_repeats"
# The two or three folders are written side by side; else Spark sorts all rows first.
_AT_ONCE = ("spark.sql.maxConcurrentOutputFileWriters", "4")
# Spark's own way to write times, INT96, is none that Iceberg has.
_TIMES = ("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")


@dataclass(eq=False, kw_only=True)
class CountsDisagree(GoldsmithError):
    """What was counted on the way is not what was written; nothing was published."""

    transient = True
    exit_code = 1

    target: str
    counted: str
    written: str

    def __str__(self) -> str:
        return f"Of '{self.target}' {self.counted} were counted and {self.written} written."

    @property
    def hint(self) -> str:
        return "Nothing was published. Run it again; if it stays, the input changes as it is read."


@dataclass(frozen=True, kw_only=True, slots=True)
class Parted:
    """Staged rows, each with the side it belongs to."""

    rows: DataFrame
    measured: Mapping[str, Any]
    beside: Measured
    #: Rows of each side.
    counts: Mapping[int, int]
    #: Rows changed sides after they were staged: the folders do not part them.
    moved: bool
    #: Which rows break checks of keys, by the check's place.
    repeats: Mapping[int, Column]

    def of(self, side: int) -> DataFrame:
        """The rows of one side, as they were shaped."""
        marks = [name for name in self.rows.columns if name.startswith(_REPEATS)]
        return self.rows.where(f"{SIDE} = {side}").drop(SIDE, *marks)

    def broken(self) -> DataFrame:
        """Rows to keep aside, with the marks of checks of keys."""
        return self.rows.where(f"{SIDE} = {ASIDE}").drop(SIDE)


def part(order: Order, places: Places, folder: str, *, as_iceberg: bool = False) -> Parted:
    """Write the rows down once, measured on the way; then say where each belongs."""
    seen = _stage(order, staging.for_spark(folder), as_iceberg=as_iceberg)
    staged = _staged(order, staging.for_spark(folder))
    measured = order.split.counted(seen, lambda: staged)
    counts = {GOOD: measured["kept"], ASIDE: measured["aside"], OUT: measured["out"]}
    beside: Measured = {}
    if order.measure_beside is not None:
        rows = staged.drop(SIDE)
        sides = [f"{folder}/{SIDE}={side}" for side in counts]
        lying = stored.of_staged(places, sides, rows.columns, measured["rows"])
        beside = order.measure_beside(rows, lying)
    repeats = _repeating(order, measured, beside)
    if not repeats:
        return Parted(
            rows=staged, measured=measured, beside=beside, counts=counts, moved=False, repeats={}
        )
    rows, marks = _marked(staged, repeats)
    side = side_of(order.split.checks, marks, before=_column(SIDE))
    rows = rows.withColumn(SIDE, side)
    counted = {row[SIDE]: row["count"] for row in rows.groupBy(SIDE).count().collect()}
    counts = {name: counted.get(name, 0) for name in (GOOD, ASIDE, OUT)}
    return Parted(
        rows=rows, measured=measured, beside=beside, counts=counts, moved=True, repeats=marks
    )


def _stage(order: Order, folder: str, *, as_iceberg: bool) -> dict[str, Any]:
    from pyspark.sql import Observation

    spark = order.fitted.rows.sparkSession
    spark.conf.set(*_AT_ONCE)
    if as_iceberg:
        spark.conf.set(*_TIMES)
    seen = Observation("goldsmith")
    marked = order.split.marked(order.fitted.rows).observe(seen, *order.split.measures())
    rows = bitmap.plain(marked).drop("_discard")
    writer = rows.write.mode("overwrite").partitionBy(SIDE)
    if as_iceberg:
        writer = writer.option("compression", "zstd")
    writer.parquet(folder)
    return dict(seen.get)


def _staged(order: Order, folder: str) -> DataFrame:
    from pyspark.sql.types import IntegerType, StructType

    plain = order.fitted.rows.drop("_discard")
    schema = StructType(plain.schema.fields).add(SIDE, IntegerType())
    return plain.sparkSession.read.schema(schema).parquet(folder)


def _repeating(
    order: Order, measured: Mapping[str, Any], beside: Measured
) -> dict[int, tuple[Keys, Column | None]]:
    """Checks of keys that found broken rows and say what becomes of them."""
    evaluation = order.split.evaluation
    keys = evaluation.keys()
    taking = {one.place for one in order.split.checks} & keys.keys()
    if not taking:
        return {}
    outcomes = evaluation.outcomes(measured, beside)
    return {one.planned.place: keys[one.planned.place] for one in outcomes
            if one.planned.place in taking and one.broken}  # fmt: skip


def _marked(
    rows: DataFrame, repeats: Mapping[int, tuple[Keys, Column | None]]
) -> tuple[DataFrame, dict[int, Column]]:
    """The rows, each with a mark for every check whose key of it occurs again."""
    from pyspark.sql import functions as F

    marks: dict[int, Column] = {}
    for place, (keys, where) in repeats.items():
        mark = f"{_REPEATS}_{place}"
        names = [f"{mark}_{number}" for number in range(len(keys.fields))]
        values = {n: field.value for n, field in zip(names, keys.fields, strict=True)}
        keyed = rows.withColumns({**values, mark: takes_part(keys, where)})
        again = (
            keyed.where(mark).groupBy(*names).count().where("count > 1")
            .select(*(F.col(n).alias(f"{n}_again") for n in names))
        )  # fmt: skip
        same = reduce(and_, [F.col(n).eqNullSafe(F.col(f"{n}_again")) for n in names])
        found = keyed.join(
            again.withColumn(f"{mark}_found", F.lit(True)), F.col(mark) & same, "left"
        )
        broken = F.coalesce(F.col(f"{mark}_found"), F.lit(False))
        if keys.nulls == "broken":
            spoken_of = where if where is not None else F.lit(True)
            broken = broken | (spoken_of & any_null(keys))
        rows = found.withColumn(mark, broken).drop(
            *names, *(f"{n}_again" for n in names), f"{mark}_found"
        )
        marks[place] = F.col(mark)
    return rows, marks


def _column(name: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(name)
