"""A lake table as a destination: an Iceberg branch, published by fast-forward."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldsmith.catalog.datasets import Target
from goldsmith.checks import bitmap
from goldsmith.checks.evaluate import Measured
from goldsmith.engine import faults, staging
from goldsmith.engine.addresses import lake_address
from goldsmith.engine.destinations.destination import Aside, Order, Published, Samples
from goldsmith.engine.inputs import RowsOf, in_window
from goldsmith.engine.lake import LakeTable, SnapshotMissing
from goldsmith.engine.lake_refs import LakeRefs
from goldsmith.engine.names import literal, name
from goldsmith.engine.parting import CountsDisagree, part
from goldsmith.engine.registering import register
from goldsmith.engine.shaping import SOURCE_FILE
from goldsmith.engine.split import ASIDE, GOOD, OUT, SIDE
from goldsmith.engine.transforms.latest_per_key import latest_per_key
from goldsmith.engine.writers.append import append
from goldsmith.engine.writers.merge import merge
from goldsmith.engine.writers.overwrite import overwrite
from goldsmith.engine.writers.scd2 import scd2
from goldsmith.engine.writers.writer import Writing
from goldsmith.planning.lake import RUN_PROPERTY, STARTED_OVER
from goldsmith.planning.places import Places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_WRITERS = {"append": append, "overwrite": overwrite, "merge": merge, "scd2": scd2}


class LakeDestination:
    """An Iceberg table that a stage writes."""

    def __init__(self, spark: SparkSession, places: Places, target: Target, layer: str) -> None:
        self.target = target
        self.places = places
        self.table = LakeTable(spark, layer, target.target_id.replace(".", "__"))
        #: To settle what is left of a stage run, whether or not Spark has a slot for us.
        self.refs = LakeRefs(places, *self.table.parts[1:])
        self.resource = (target.location or target.target_id).rstrip("/")
        #: Whether the table was there before this stage run; None where nobody has looked.
        self._was_there: bool | None = None
        self._branches: set[str] = set()

    def schema(self, rows: DataFrame) -> StructType | None:
        del rows  # the table knows its own types
        self._was_there = self.table.exists()
        return self.table.schema() if self._was_there else None

    def write_aside(self, order: Order) -> Aside:
        branch = _branch(order.stage_run_id)
        self._prepare(order, branch)
        faults.reach("branch-made")
        aside = self._how(order)(order, branch)
        faults.reach("written")
        summary = aside.measured["summary"]
        size = summary.get("added-files-size")
        return replace(aside, bytes=int(size) if size else None)

    def _how(self, order: Order) -> Callable[[Order, str], Aside]:
        """The way that writes rows least often."""
        if not order.split.takes_rows:
            if not order.split.evaluation.checks and (_is_plain(order) or self._is_empty(order)):
                return self._write_straight
            if _is_plain(order):
                return self._write_observed
        return self._write_parted

    def _is_empty(self, order: Order) -> bool:
        """The rows come to no others: the table is new, or they take the place of all it had."""
        return order.from_scratch or self._was_there is False

    def _prepare(self, order: Order, branch: str) -> None:
        fitted = order.fitted
        rows = fitted.rows.drop("_discard")
        location = lake_address(self.places, self.target.location or "")
        properties = {
            str(key): str(value)
            for key, value in dict(self.target.options.get("properties", {})).items()
        }
        if not self._was_there:
            self.table.create(
                rows.schema,
                location=location,
                partition_by=order.partition_by,
                properties=properties,
            )
        faults.reach("table-made")
        # The schema is the table's and not the branch's: a new column shows on main at once,
        # empty until the publish.
        if fitted.add:
            self.table.add_columns(fitted.add)
        for column, type_ in fitted.widen.items():
            self.table.widen(column, type_)
        faults.reach("schema-changed")
        if branch in self._branches:  # the second write of this stage run
            self.table.drop_branch(branch)
        self._branches.add(branch)
        self.table.create_branch(branch)

    def _write_straight(self, order: Order, branch: str) -> Aside:
        """Nothing is asked of the rows but how many they are, and the snapshot says that."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        rows, seen = order.fitted.rows, None
        if not _is_plain(order):  # only one row of each key is written
            seen = Observation("goldsmith")
            rows = rows.observe(seen, F.count(F.lit(1)).alias("rows"))
        self._write(order, rows.drop("_discard"), branch)
        # A load of no rows is a snapshot too: without one nobody knows how many there were.
        summary = self.refs.written(order.stage_run_id)
        if not summary:
            raise SnapshotMissing(table=str(self.table), stage_run=order.stage_run_id)
        kept = int(summary.get("added-records", 0))
        # Where none was added there was none, and Spark may have left the counting out.
        if seen is not None and kept:
            kept = int(seen.get["rows"])
        return Aside(measured={"rows": kept, "kept": kept, "summary": summary}, kept=kept)

    def _write_observed(self, order: Order, branch: str) -> Aside:
        """Measure on the way to the table; keys are counted over the files that were written."""
        from pyspark.sql import Observation

        seen = Observation("goldsmith")
        marked = order.split.marked(order.fitted.rows).observe(seen, *order.split.measures())
        self._write(order, bitmap.plain(marked).drop(SIDE), branch)
        measured = order.split.counted(seen.get, lambda: self._written(order, branch))
        measured["summary"] = self._agree(order, measured["kept"])
        beside, samples = self._look_back(order, branch, measured)
        return Aside(
            measured=measured,
            beside=beside,
            kept=measured["kept"],
            samples=samples,
        )

    def _written(self, order: Order, branch: str) -> DataFrame:
        """The rows that were written: all there are, where they took the place of all others."""
        if order.from_scratch or order.mode == "overwrite":
            # What a snapshot that replaces rows has added is not to be asked of Iceberg.
            return self.table.rows_of_branch(branch)
        return self.table.added(order.stage_run_id)

    def _look_back(
        self, order: Order, branch: str, measured: Mapping[str, Any]
    ) -> tuple[Measured, Samples]:
        """What is asked of the rows once they are written; often nothing is."""
        is_broken = any(n for name, n in measured.items() if name.startswith("broken_"))
        if order.measure_beside is None and not is_broken:
            return {}, {}
        written = self._written(order, branch)
        beside = order.measure_beside(written, None) if order.measure_beside is not None else {}
        return beside, order.look(written, measured, beside, {})

    def _write_parted(self, order: Order, branch: str) -> Aside:
        """Write the rows down once, parted; keep the broken, then write the good from there.

        A MERGE reads its source twice, and takes none that could differ between the two.
        """
        folder = self._folder(order.stage_run_id)
        target = self.target.target_id
        parted = part(order, self.places, folder, target=target, as_iceberg=True)
        samples = order.look(parted.rows, parted.measured, parted.beside, parted.repeats)
        # An empty write is a snapshot too, and says that the stage run was here.
        as_they_lie = parted.counts[GOOD] and not parted.moved and _is_plain(order)
        if as_they_lie and self._register(order, branch, folder):
            summary = self._agree(order, parted.counts[GOOD])
        else:
            self._write(order, parted.of(GOOD), branch)
            staging.remove(self.places, f"{folder}/{SIDE}={GOOD}")
            summary = self.refs.written(order.stage_run_id)
        for side in (ASIDE, OUT):
            staging.remove(self.places, f"{folder}/{SIDE}={side}")
        return Aside(
            measured={**parted.measured, "summary": summary},
            beside=parted.beside,
            kept=parted.counts[GOOD],
            aside=parted.counts[ASIDE],
            out=parted.counts[OUT],
            samples=samples,
        )

    def _register(self, order: Order, branch: str, folder: str) -> bool:
        """Make the good rows' files files of the table, where they can be: nothing is rewritten."""
        signed = {RUN_PROPERTY: order.stage_run_id}
        if order.from_scratch:
            signed[STARTED_OVER] = "true"
        else:
            self._make_room(order, branch)
        return register(
            self.table,
            self.places,
            folder=f"{folder}/{SIDE}={GOOD}",
            branch=branch,
            signed=signed,
            replace_all=order.from_scratch or order.mode == "overwrite",
        )

    def _agree(self, order: Order, counted: int) -> Mapping[str, Any]:
        """What the snapshot says of itself; raises where it is not what was counted on the way."""
        summary = self.refs.written(order.stage_run_id)
        written = int(summary.get("added-records", 0))
        if written != counted:
            raise CountsDisagree(
                target=self.target.target_id,
                counted=f"{counted:,} rows",
                written=f"{written:,}",
            )
        return summary

    def _folder(self, stage_run_id: str) -> str:
        """Where rows are staged: with the table's own files, which the good ones become."""
        return f"{self.places.address(self.target.location or '').rstrip('/')}/data/{stage_run_id}"

    def _write(self, order: Order, rows: DataFrame, branch: str) -> None:
        mode = order.mode
        is_empty = self._is_empty(order)
        if is_empty and mode == "merge":
            rows = latest_per_key(rows, keys=order.keys, newest_by=order.watermark)
            mode = "overwrite"
        if order.from_scratch and mode == "scd2":
            self._empty(branch)
        elif order.from_scratch:
            mode = "overwrite"
        if mode == "append":
            self._make_room(order, branch)
        writing = Writing(
            rows=rows,
            table=self.table,
            branch=branch,
            stage_run_id=order.stage_run_id,
            keys=order.keys,
            watermark=order.watermark,
            options={} if is_empty else order.options,
            is_empty=is_empty,
        )
        with self.table.marked(STARTED_OVER) if order.from_scratch else nullcontext():
            _WRITERS[mode](writing)

    def _make_room(self, order: Order, branch: str) -> None:
        """Take back what the rows to be appended replace."""
        if order.replaced_files:
            self._take_back(order.replaced_files, branch)
            faults.reach("rows-taken-back")
        if order.replaced_rows is not None:
            self._take_back_rows(order.replaced_rows, branch)

    def _empty(self, branch: str) -> None:
        self.table.spark.sql(f"DELETE FROM {self.table.branch_name(branch)}")

    def _take_back(self, files: tuple[str, ...], branch: str) -> None:
        listed = ", ".join(literal(file) for file in files)
        self.table.spark.sql(
            f"DELETE FROM {self.table.branch_name(branch)} WHERE {name(SOURCE_FILE)} IN ({listed})"
        )

    def _take_back_rows(self, rows_of: RowsOf, branch: str) -> None:
        condition = in_window(self.table.schema(), rows_of)
        self.table.spark.sql(f"DELETE FROM {self.table.branch_name(branch)} WHERE {condition}")

    def publish(self, order: Order, aside: Aside, token: int) -> Published:
        del token  # a branch that started from an older main is refused by Iceberg itself
        branch = _branch(order.stage_run_id)
        summary = aside.measured.get("summary", {})
        self.table.publish(branch)
        faults.reach("published")
        self.table.drop_branch(branch)
        faults.reach("branch-dropped")
        return _published(summary)

    def published(self, stage_run_id: str) -> Published | None:
        summary = self.refs.published(stage_run_id)
        return None if summary is None else _published(summary)

    def cancel(self) -> bool:
        return False  # all of it is Spark's work, and Spark's jobs are cancelled by their tag

    def as_published(self, order: Order) -> DataFrame:
        return self.table.rows_of_branch(_branch(order.stage_run_id))

    def clean(self, stage_run_id: str) -> None:
        if not self.refs.exists():
            return
        self.refs.drop_branch(_branch(stage_run_id))
        folder = self._folder(stage_run_id)
        if not staging.exists(self.places, folder):
            return
        # With the branch gone nothing more can be published: what main has now stays.
        if self.refs.has_files_of(stage_run_id):
            for side in (ASIDE, OUT):
                staging.remove(self.places, f"{folder}/{SIDE}={side}")
        else:
            staging.remove(self.places, folder)


def _branch(stage_run_id: str) -> str:
    return f"run_{stage_run_id}"


def _is_plain(order: Order) -> bool:
    """The rows are added, or take the place of all others: no other row decides on them."""
    if order.from_scratch:
        return order.mode not in ("merge", "scd2")
    return order.mode == "append" or (
        order.mode == "overwrite" and order.options.get("overwrite") != "partitions"
    )


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
        facts={"total_rows": summary.get("total-records")},
    )
