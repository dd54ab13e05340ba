"""A lake table as a destination: an Iceberg branch, published by fast-forward."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldsmith.catalog.datasets import Target
from goldsmith.catalog.write_modes import WRITE_MODES, Replaces
from goldsmith.checks import bitmap
from goldsmith.checks.evaluate import Measured
from goldsmith.engine import faults
from goldsmith.engine.lake.branches import MADE_BY, SCHEMA_BEFORE, LakeRefs
from goldsmith.engine.lake.lake_table import LakeTable, SnapshotMissing
from goldsmith.engine.names import literal, name
from goldsmith.engine.quarantine.row_router import DROP, GOOD, QUARANTINE, ROUTE
from goldsmith.engine.read.inputs import in_window
from goldsmith.engine.shape.reserved_columns import refuse_ambiguous
from goldsmith.engine.write.destinations.destination import (
    Published,
    Samples,
    StagedWrite,
    WriteRequest,
)
from goldsmith.engine.write.lake_write import LakeWrite
from goldsmith.engine.write.load_paced import load_paced
from goldsmith.engine.write.register_files import register
from goldsmith.engine.write.stage_rows import CountsDisagree, stage_rows
from goldsmith.planning.input_selection import RowWindow
from goldsmith.planning.lake import ROUTE_PROPERTY, RUN_PROPERTY, STARTED_OVER
from goldsmith.planning.provenance import SOURCE_FILE
from goldsmith.planning.rewritten_files import refuse_rows_without_file
from goldsmith.storage import staging
from goldsmith.storage.spark_addresses import lake_address
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class LakeDestination:
    """An Iceberg table that a stage writes."""

    def __init__(self, spark: SparkSession, storage: Storage, target: Target, layer: str) -> None:
        self.target = target
        self.storage = storage
        self.table = LakeTable(spark, layer, target.target_id.replace(".", "__"))
        #: Settles a stage run without Spark, whose slots may all be taken.
        self.refs = LakeRefs(storage, *self.table.parts[1:])
        self.resource = (target.location or target.target_id).rstrip("/")
        #: Whether the table existed before this stage run; None before `schema` was called.
        self._was_there: bool | None = None
        self._branches: set[str] = set()

    def schema(self, rows: DataFrame) -> StructType | None:
        del rows  # a lake table has its own types
        # A table created by a run that published nothing must not fix the columns.
        self.refs.drop_unpublished()
        self._was_there = self.table.exists()
        if self._was_there:
            self.refs.refuse_merge_on_read()
        return self.table.schema() if self._was_there else None

    def write_staged(self, request: WriteRequest) -> StagedWrite:
        branch = _branch(request.stage_run_id)
        if request.replaced_files and self._was_there:
            rows = self.table.spark.table(self.table.sql_name)
            refuse_rows_without_file(rows, self.target.target_id, request.replaced_files)
        self._prepare(request, branch)
        faults.reach("branch-made")
        staged_write = self._how(request)(request, branch)
        faults.reach("written")
        summary = staged_write.measured["summary"]
        if request.from_scratch:
            self._refuse_earlier_rows(summary)
        size = summary.get("added-files-size")
        return replace(staged_write, bytes=int(size) if size else None)

    def _how(self, request: WriteRequest) -> Callable[[WriteRequest, str], StagedWrite]:
        """The method that writes the rows the fewest times."""
        if not request.router.takes_rows and request.pace is None:
            if not request.router.evaluation.checks and (
                _is_plain(request) or self._is_empty(request)
            ):
                return self._write_straight
            if _is_plain(request):
                return self._write_observed
        return self._write_through_staging

    def _is_empty(self, request: WriteRequest) -> bool:
        """No existing rows remain: the table is new, or all its rows are replaced."""
        return request.from_scratch or self._was_there is False

    def _prepare(self, request: WriteRequest, branch: str) -> None:
        fitted = request.fitted
        rows = fitted.plain
        refuse_ambiguous(rows.schema, self.target.target_id)
        location = lake_address(self.storage, self.target.location or "")
        properties = {
            str(key): str(value)
            for key, value in dict(self.target.options.get("properties", {})).items()
        }
        if branch in self._branches:  # the second write of this stage run
            self.table.drop_branch(branch)
            self.table.create_branch(branch)
            return
        if not self._was_there:
            self.table.create(
                rows.schema,
                location=location,
                partition_by=request.partition_by,
                properties={**properties, MADE_BY: request.stage_run_id},
            )
        faults.reach("table-made")
        # Iceberg has one schema per table, not per branch: a new column shows on main at once,
        # empty until the publish. `clean` removes it if nothing is published.
        if fitted.add or fitted.widen:
            before = self.refs.schema_before(request.stage_run_id)
            self.table.set_property(SCHEMA_BEFORE, before)
        if fitted.add:
            self.table.add_columns(fitted.add)
        for path, type_ in fitted.widen.items():
            self.table.widen(path, type_)
        faults.reach("schema-changed")
        self._branches.add(branch)
        self.table.create_branch(branch)

    def _write_straight(self, request: WriteRequest, branch: str) -> StagedWrite:
        """Write without checks; the snapshot summary has the number of rows."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        rows, seen = request.fitted.plain, None
        if not _is_plain(request):  # a merge or scd2 keeps one row per key: count its input rows
            seen = Observation("goldsmith")
            rows = rows.observe(seen, F.count(F.lit(1)).alias("rows"))
        self._write(request, rows, branch)
        # A load of no rows makes a snapshot too: without a snapshot the count is unknown.
        summary = self.refs.written(request.stage_run_id)
        if not summary:
            raise SnapshotMissing(table=str(self.table), stage_run=request.stage_run_id)
        good = int(summary.get("added-records", 0))
        # If no row was added the input had none, and Spark may have skipped the observation.
        if seen is not None and good:
            good = int(seen.get["rows"])
        return StagedWrite(measured={"rows": good, "good": good, "summary": summary}, good=good)

    def _write_observed(self, request: WriteRequest, branch: str) -> StagedWrite:
        """Measure while writing to the table; count keys over the written files."""
        from pyspark.sql import Observation

        seen = Observation("goldsmith")
        marked = request.router.marked(request.fitted.rows).observe(
            seen, *request.router.measures()
        )
        self._write(request, bitmap.plain(marked).drop(ROUTE), branch)
        measured = request.router.counted(seen.get, lambda: self._written(request, branch))
        measured["summary"] = self._agree(request, measured["good"])
        beside, samples = self._measure_written(request, branch, measured)
        return StagedWrite(
            measured=measured,
            beside=beside,
            good=measured["good"],
            samples=samples,
        )

    def _written(self, request: WriteRequest, branch: str) -> DataFrame:
        """The rows this stage run wrote: the whole branch if the write replaced all rows."""
        if request.from_scratch or request.replaces is Replaces.EVERYTHING:
            # Iceberg cannot read only the added rows of a snapshot that replaces rows.
            return self.table.rows_of_branch(branch)
        return self.table.added(request.stage_run_id)

    def _measure_written(
        self, request: WriteRequest, branch: str, measured: Mapping[str, Any]
    ) -> tuple[Measured, Samples]:
        """Measures and samples that need the written rows; often there are none."""
        is_broken = any(n for name, n in measured.items() if name.startswith("broken_"))
        if request.measure_beside is None and not is_broken:
            return {}, {}
        written = self._written(request, branch)
        beside = request.measure_beside(written, None) if request.measure_beside is not None else {}
        return beside, request.sample_broken_rows(written, measured, beside, {})

    def _write_through_staging(self, request: WriteRequest, branch: str) -> StagedWrite:
        """Stage the rows by route, quarantine the broken ones, then write the good ones.

        A MERGE reads its source twice and needs the same rows both times: staged files give them.
        """
        folder, pace = self._folder(request.stage_run_id), request.pace
        target, staged_in = self.target.target_id, folder if pace is None else pace.scratch
        staged_rows = stage_rows(request, self.storage, staged_in, target=target, as_iceberg=True)
        samples = request.sample_broken_rows(
            staged_rows.rows, staged_rows.measured, staged_rows.beside, staged_rows.repeats
        )
        # No good rows: still write, because the empty snapshot records the stage run.
        good, is_apart = staged_rows.of(GOOD), not staged_rows.moved
        if pace is not None and staged_rows.counts[GOOD]:
            good, is_apart = load_paced(pace, staged_rows, staged_in, folder), True
        can_register = staged_rows.counts[GOOD] and is_apart and _is_plain(request)
        if can_register and self._register(request, branch, folder):
            summary = self._agree(request, staged_rows.counts[GOOD])
        else:
            self._write(request, good, branch)
            staging.remove(self.storage, f"{folder}/{ROUTE}={GOOD}")
            summary = self.refs.written(request.stage_run_id)
        for side in (QUARANTINE, DROP):
            staging.remove(self.storage, f"{folder}/{ROUTE}={side}")
        if pace is not None:
            staging.remove(self.storage, pace.scratch)
        return StagedWrite(
            measured={**staged_rows.measured, "summary": summary},
            beside=staged_rows.beside,
            good=staged_rows.counts[GOOD],
            quarantined=staged_rows.counts[QUARANTINE],
            dropped=staged_rows.counts[DROP],
            samples=samples,
        )

    def _register(self, request: WriteRequest, branch: str, folder: str) -> bool:
        """Register the staged good files in the table; False if the table cannot take them."""
        signed = {RUN_PROPERTY: request.stage_run_id}
        if request.route is not None:
            signed[ROUTE_PROPERTY] = request.route
        if request.from_scratch:
            signed[STARTED_OVER] = "true"
        else:
            self._make_room(request, branch)
        return register(
            self.table,
            self.storage,
            folder=f"{folder}/{ROUTE}={GOOD}",
            branch=branch,
            signed=signed,
            replace_all=request.from_scratch or request.replaces is Replaces.EVERYTHING,
        )

    def _agree(self, request: WriteRequest, counted: int) -> Mapping[str, Any]:
        """The snapshot summary; raises if its row count differs from the observed count."""
        summary = self.refs.written(request.stage_run_id)
        written = int(summary.get("added-records", 0))
        if written != counted:
            raise CountsDisagree(
                target=self.target.target_id,
                counted=f"{counted:,} rows",
                written=f"{written:,}",
            )
        return summary

    def _refuse_earlier_rows(self, summary: Mapping[str, Any]) -> None:
        """Raise if the write mode left rows in the branch that the write had to replace."""
        total, added = (int(summary.get(f"{which}-records", 0)) for which in ("total", "added"))
        if total > added:
            counted, written = f"{added:,} rows", f"{total:,} with those of earlier loads"
            raise CountsDisagree(target=self.target.target_id, counted=counted, written=written)

    def _folder(self, stage_run_id: str) -> str:
        """The staging folder, in the table's data folder: good files are registered from there."""
        return f"{self.storage.address(self.target.location or '').rstrip('/')}/data/{stage_run_id}"

    def _write(self, request: WriteRequest, rows: DataFrame, branch: str) -> None:
        mode = WRITE_MODES.get(request.mode)
        if mode.deduplicate is not None:
            rows = mode.deduplicate(rows, request.keys, request.watermark)
        if request.replaces is Replaces.NOTHING and not request.from_scratch:
            self._make_room(request, branch)
        write = LakeWrite(
            rows=rows,
            table=self.table,
            branch=branch,
            stage_run_id=request.stage_run_id,
            keys=request.keys,
            watermark=request.watermark,
            options=request.options,
            from_scratch=request.from_scratch,
            is_empty=self._is_empty(request),
        )
        with ExitStack() as marks:
            if request.from_scratch:
                marks.enter_context(self.table.marked(STARTED_OVER))
            if request.route is not None:
                marks.enter_context(self.table.marked(ROUTE_PROPERTY, request.route))
            mode.write_to_lake(write)

    def _make_room(self, request: WriteRequest, branch: str) -> None:
        """Delete the rows that the appended rows replace."""
        if request.replaced_files:
            self._take_back(request.replaced_files, branch)
            faults.reach("rows-taken-back")
        if request.replaced_rows is not None:
            self._take_back_rows(request.replaced_rows, branch)

    def _take_back(self, files: tuple[str, ...], branch: str) -> None:
        listed = ", ".join(literal(file) for file in files)
        self.table.spark.sql(
            f"DELETE FROM {self.table.branch_name(branch)} WHERE {name(SOURCE_FILE)} IN ({listed})"
        )

    def _take_back_rows(self, rows_of: RowWindow, branch: str) -> None:
        condition = in_window(self.table.schema(), rows_of)
        self.table.spark.sql(f"DELETE FROM {self.table.branch_name(branch)} WHERE {condition}")

    def publish(self, request: WriteRequest, staged_write: StagedWrite, token: int) -> Published:
        del token  # Iceberg refuses to fast-forward a branch that started from an older main
        branch = _branch(request.stage_run_id)
        summary = staged_write.measured.get("summary", {})
        self.table.publish(branch)
        faults.reach("published")
        self.table.drop_branch(branch)
        faults.reach("branch-dropped")
        return _published(summary)

    def published(self, stage_run_id: str) -> Published | None:
        summary = self.refs.published(stage_run_id)
        return None if summary is None else _published(summary)

    def elsewhere(self, table_name: str) -> LakeDestination:
        layer = table_name.split(".")[1] if table_name.startswith("lake.") else self.table.parts[1]
        return LakeDestination(self.table.spark, self.storage, self.target, layer)

    def cancel(self) -> bool:
        return False  # Spark does all the work, and Spark jobs are cancelled by their tag

    def as_published(self, request: WriteRequest) -> DataFrame:
        return self.table.rows_of_branch(_branch(request.stage_run_id))

    def clean(self, stage_run_id: str) -> None:
        if not self.refs.exists():
            return
        self.refs.drop_branch(_branch(stage_run_id))
        self.refs.restore_schema(stage_run_id)
        self.refs.drop_unpublished(stage_run_id)
        folder = self._folder(stage_run_id)
        if not staging.exists(self.storage, folder):
            return
        # Without the branch nothing more can be published: keep files that main uses now.
        if self.refs.has_files_of(stage_run_id):
            for side in (QUARANTINE, DROP):
                staging.remove(self.storage, f"{folder}/{ROUTE}={side}")
        else:
            staging.remove(self.storage, folder)


def _branch(stage_run_id: str) -> str:
    return f"run_{stage_run_id}"


def _is_plain(request: WriteRequest) -> bool:
    """The write appends rows or replaces all rows: no existing row has to be compared."""
    if WRITE_MODES.get(request.mode).deduplicate is not None:
        return False
    return request.from_scratch or request.replaces in (Replaces.NOTHING, Replaces.EVERYTHING)


def _published(summary: Any) -> Published:
    updated = summary.get("spark.merge-into.num-target-rows-updated")
    inserted = summary.get("spark.merge-into.num-target-rows-inserted")
    if inserted is not None:
        rows = int(inserted) + int(updated or 0)
    else:
        rows = int(summary.get("added-records", 0))
    return Published(
        snapshot=str(summary.get("snapshot_id", "")),
        rows=rows,
        table_uuid=summary.get("table-uuid"),
        facts={"total_rows": summary.get("total-records")},
    )
