"""Stage shaped rows as Parquet, with one folder per route, so that Spark evaluates them once.

The later steps read the staged files, which return the same rows each time: count keys, mark
duplicates, write broken rows to the quarantine, publish good rows.
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
from goldsmith.checks.meanwhile import meanwhile
from goldsmith.checks.measures import Keys
from goldsmith.engine import faults
from goldsmith.engine.lake import parquet_files
from goldsmith.engine.quarantine.row_router import DROP, GOOD, QUARANTINE, ROUTE, route_of
from goldsmith.engine.write.destinations.destination import WriteRequest
from goldsmith.errors import GoldsmithError
from goldsmith.storage import staging
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_REPEATS = "_goldsmith_repeats"
# Lets a task write two or three folders at once; otherwise Spark first sorts all rows.
_AT_ONCE = ("spark.sql.maxConcurrentOutputFileWriters", "4")
# Iceberg has no INT96, Spark's default type for times in Parquet.
_TIMES = ("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")


@dataclass(eq=False, kw_only=True)
class CountsDisagree(GoldsmithError):
    """The number of rows written differs from the number counted during the write."""

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
class StagedRows:
    """Staged rows, each with its route: good, quarantine or drop."""

    rows: DataFrame
    measured: Mapping[str, Any]
    beside: Measured
    #: Number of rows by route. The rows of QUARANTINE are already in the quarantine table.
    counts: Mapping[int, int]
    #: Key checks changed the route of rows after staging: folders no longer match routes.
    moved: bool
    #: Condition for rows that break a key check, by the check's index.
    repeats: Mapping[int, Column]

    def of(self, side: int) -> DataFrame:
        """The rows of one route, without helper columns."""
        marks = [name for name in self.rows.columns if name.startswith(_REPEATS)]
        return self.rows.where(f"{ROUTE} = {side}").drop(ROUTE, *marks)


def stage_rows(
    request: WriteRequest, storage: Storage, folder: str, *, target: str, as_iceberg: bool = False
) -> StagedRows:
    """Write the rows to staging once, measure and route them, and quarantine broken rows.

    For large inputs skip Spark's observed metrics; Arrow reads them from the staged files.
    """
    router, path = request.router, staging.for_spark(folder)
    later = router.can_wait and parquet_files.is_large(storage, request.fitted.rows)
    seen = _stage(request, path, as_iceberg=as_iceberg, observe=not later)
    staged = _staged(request, path)
    measured = router.of_sides(staged) if later else router.counted(seen, lambda: staged)
    faults.reach("rows-routed")
    counts = {
        GOOD: measured["good"],
        QUARANTINE: measured["quarantined"],
        DROP: measured["dropped"],
    }

    def measure_staged() -> tuple[dict[str, Any], Measured]:
        """The measures of the checks, and the measures that need a separate pass."""
        riding, beside = {}, {}
        if later or request.measure_beside is not None:
            rows = staged.drop(ROUTE)
            good, *removed_folders = (f"{folder}/{ROUTE}={side}" for side in counts)
            staged_files = parquet_files.of_staged(
                storage, [good], rows.columns, measured["rows"], removed_folders=removed_folders
            )
            if later:
                riding = router.evaluation.measure(rows, staged_files, known=measured)
            if request.measure_beside is not None:
                beside = request.measure_beside(rows, staged_files)
        return {**riding, **measured}, beside

    staged_rows = StagedRows(
        rows=staged, measured=measured, beside={}, counts=counts, moved=False, repeats={}
    )
    if not _keys_that_take_rows(request):
        # No measure of the staged files changes a route: measure while the quarantine is written.
        at_once = counts[QUARANTINE] and (later or request.measure_beside is not None)
        with meanwhile(staged, measure_staged) if at_once else nullcontext(measure_staged) as found:
            _keep(request, staged_rows, target)
            measured, beside = found()
            return replace(staged_rows, measured=measured, beside=beside)
    measured, beside = measure_staged()
    staged_rows = replace(staged_rows, measured=measured, beside=beside)
    if repeats := _repeating(request, measured, beside):
        rows, marks = _marked(staged, repeats)
        rows = rows.withColumn(ROUTE, route_of(router.checks, marks, before=_column(ROUTE)))
        counted = {row[ROUTE]: row["count"] for row in rows.groupBy(ROUTE).count().collect()}
        counts = {name: counted.get(name, 0) for name in counts}
        staged_rows = replace(staged_rows, rows=rows, counts=counts, moved=True, repeats=marks)
    _keep(request, staged_rows, target)
    return staged_rows


def _keep(request: WriteRequest, staged_rows: StagedRows, target: str) -> None:
    """Write the broken rows to the quarantine, with the marks of the key checks."""
    counted = staged_rows.counts[QUARANTINE]
    broken = staged_rows.rows.where(f"{ROUTE} = {QUARANTINE}").drop(ROUTE)
    quarantined = request.keep_broken(broken, staged_rows.repeats) if counted else 0
    if quarantined != counted:
        raise CountsDisagree(
            target=target,
            counted=f"{counted:,} broken rows",
            written=f"{quarantined:,}",
        )
    faults.reach("broken-quarantined")


def _stage(
    request: WriteRequest, folder: str, *, as_iceberg: bool, observe: bool
) -> dict[str, Any]:
    from pyspark.sql import Observation

    spark = request.fitted.rows.sparkSession
    spark.conf.set(*_AT_ONCE)
    if as_iceberg:
        spark.conf.set(*_TIMES)
    seen = Observation("goldsmith")
    if observe:
        marked = request.router.marked(request.fitted.rows).observe(
            seen, *request.router.measures()
        )
        rows = bitmap.plain(marked)
    else:
        rows = request.router.sided(request.fitted.rows)
    if request.fitted.discard_column is not None:
        rows = rows.drop(request.fitted.discard_column)
    writer = rows.write.mode("overwrite").partitionBy(ROUTE)
    if as_iceberg:
        writer = writer.option("compression", "zstd")
    if request.pace is not None:
        writer = writer.option("maxRecordsPerFile", request.pace.rows_per_file)
    writer.parquet(folder)
    return dict(seen.get) if observe else {}


def _staged(request: WriteRequest, folder: str) -> DataFrame:
    from pyspark.sql.types import IntegerType, StructField, StructType

    plain = request.fitted.plain
    schema = StructType([*plain.schema.fields, StructField(ROUTE, IntegerType())])
    return plain.sparkSession.read.schema(schema).parquet(folder)


def _keys_that_take_rows(request: WriteRequest) -> set[int]:
    """Indexes of key checks that quarantine or drop rows."""
    return {
        check.index for check in request.router.checks
    } & request.router.evaluation.keys().keys()


def _repeating(
    request: WriteRequest, measured: Mapping[str, Any], beside: Measured
) -> dict[int, tuple[Keys, Column | None]]:
    """The key checks that quarantine or drop rows and that found broken rows."""
    evaluation = request.router.evaluation
    taking, keys = _keys_that_take_rows(request), evaluation.keys()
    outcomes = evaluation.outcomes(measured, beside)
    return {outcome.planned.index: keys[outcome.planned.index] for outcome in outcomes
            if outcome.planned.index in taking and outcome.broken}  # fmt: skip


def _marked(
    rows: DataFrame, repeats: Mapping[int, tuple[Keys, Column | None]]
) -> tuple[DataFrame, dict[int, Column]]:
    """Add a boolean column per key check: true where the row breaks the check."""
    from pyspark.sql import functions as F

    marks: dict[int, Column] = {}
    for index, (keys, where) in repeats.items():
        mark = f"{_REPEATS}_{index}"
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
            in_scope = where if where is not None else F.lit(True)
            broken = broken | (in_scope & any_null(keys))
        rows = found.withColumn(mark, broken).drop(
            *names, *(f"{n}_again" for n in names), f"{mark}_found"
        )
        marks[index] = F.col(mark)
    return rows, marks


def _column(name: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(name)
