"""Rows staged as Parquet, good and broken in folders apart: shaped rows are evaluated once.

What comes after works on those files, which give the same rows however often they are read:
keys are counted, duplicates marked, broken rows kept in the quarantine, good ones published.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from goldsmith.checks import bitmap
from goldsmith.checks.evaluate import Measured
from goldsmith.checks.keys import any_null, takes_part
from goldsmith.checks.measures import Keys
from goldsmith.checks.native.jobs import meanwhile
from goldsmith.engine import faults, staging, stored
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
    #: Rows of each side; those to be kept aside are in the quarantine.
    counts: Mapping[int, int]
    #: Rows changed sides after they were staged: the folders do not part them.
    moved: bool
    #: Which rows break checks of keys, by the check's place.
    repeats: Mapping[int, Column]

    def of(self, side: int) -> DataFrame:
        """The rows of one side, as they were shaped."""
        marks = [name for name in self.rows.columns if name.startswith(_REPEATS)]
        return self.rows.where(f"{SIDE} = {side}").drop(SIDE, *marks)


def part(
    order: Order, places: Places, folder: str, *, target: str, as_iceberg: bool = False
) -> Parted:
    """Write the rows down once, measured on the way; say where each belongs, keep the broken.

    Of many rows nothing is observed on the way that Arrow finds sooner in the files.
    """
    split, path = order.split, staging.for_spark(folder)
    later = split.can_wait and stored.is_large(places, order.fitted.rows)
    seen = _stage(order, path, as_iceberg=as_iceberg, observe=not later)
    staged = _staged(order, path)
    measured = split.of_sides(staged) if later else split.counted(seen, lambda: staged)
    faults.reach("rows-parted")
    counts = {GOOD: measured["kept"], ASIDE: measured["aside"], OUT: measured["out"]}

    def look_back() -> tuple[dict[str, Any], Measured]:
        """All that is measured, and what is measured beside it."""
        riding, beside = {}, {}
        if later or order.measure_beside is not None:
            rows = staged.drop(SIDE)
            good, *apart = (f"{folder}/{SIDE}={side}" for side in counts)
            lying = stored.of_staged(places, [good], rows.columns, measured["rows"], apart=apart)
            if later:
                riding = split.evaluation.measure(rows, lying, known=measured)
            if order.measure_beside is not None:
                beside = order.measure_beside(rows, lying)
        return {**riding, **measured}, beside

    parted = Parted(
        rows=staged, measured=measured, beside={}, counts=counts, moved=False, repeats={}
    )
    if not _keys_that_take_rows(order):
        # Nothing that is found in the files moves a row: both at once, where there is both.
        at_once = counts[ASIDE] and (later or order.measure_beside is not None)
        with meanwhile(staged, look_back) if at_once else nullcontext(look_back) as found:
            _keep(order, parted, target)
            measured, beside = found()
            return replace(parted, measured=measured, beside=beside)
    measured, beside = look_back()
    parted = replace(parted, measured=measured, beside=beside)
    if repeats := _repeating(order, measured, beside):
        rows, marks = _marked(staged, repeats)
        rows = rows.withColumn(SIDE, side_of(split.checks, marks, before=_column(SIDE)))
        counted = {row[SIDE]: row["count"] for row in rows.groupBy(SIDE).count().collect()}
        counts = {name: counted.get(name, 0) for name in counts}
        parted = replace(parted, rows=rows, counts=counts, moved=True, repeats=marks)
    _keep(order, parted, target)
    return parted


def _keep(order: Order, parted: Parted, target: str) -> None:
    """Keep the broken rows in the quarantine, with the marks of checks of keys."""
    counted = parted.counts[ASIDE]
    broken = parted.rows.where(f"{SIDE} = {ASIDE}").drop(SIDE)
    kept = order.keep_broken(broken, parted.repeats) if counted else 0
    if kept != counted:
        raise CountsDisagree(
            target=target,
            counted=f"{counted:,} broken rows",
            written=f"{kept:,}",
        )
    faults.reach("broken-kept")


def _stage(order: Order, folder: str, *, as_iceberg: bool, observe: bool) -> dict[str, Any]:
    from pyspark.sql import Observation

    spark = order.fitted.rows.sparkSession
    spark.conf.set(*_AT_ONCE)
    if as_iceberg:
        spark.conf.set(*_TIMES)
    seen = Observation("goldsmith")
    if observe:
        marked = order.split.marked(order.fitted.rows).observe(seen, *order.split.measures())
        rows = bitmap.plain(marked)
    else:
        rows = order.split.sided(order.fitted.rows)
    writer = rows.drop("_discard").write.mode("overwrite").partitionBy(SIDE)
    if as_iceberg:
        writer = writer.option("compression", "zstd")
    writer.parquet(folder)
    return dict(seen.get) if observe else {}


def _staged(order: Order, folder: str) -> DataFrame:
    from pyspark.sql.types import IntegerType, StructType

    plain = order.fitted.rows.drop("_discard")
    schema = StructType(plain.schema.fields).add(SIDE, IntegerType())
    return plain.sparkSession.read.schema(schema).parquet(folder)


def _keys_that_take_rows(order: Order) -> set[int]:
    """Checks of keys that say what becomes of broken rows."""
    return {one.place for one in order.split.checks} & order.split.evaluation.keys().keys()


def _repeating(
    order: Order, measured: Mapping[str, Any], beside: Measured
) -> dict[int, tuple[Keys, Column | None]]:
    """Those of them that found any."""
    evaluation = order.split.evaluation
    taking, keys = _keys_that_take_rows(order), evaluation.keys()
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
