"""A lake table as a destination: an Iceberg branch, published by fast-forward."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldsmith.catalog.datasets import Target
from goldsmith.engine import faults
from goldsmith.engine.addresses import lake_address
from goldsmith.engine.destinations.destination import Aside, Order, Published
from goldsmith.engine.inputs import RowsOf, in_window
from goldsmith.engine.lake import LakeTable
from goldsmith.engine.names import literal, name
from goldsmith.engine.shaping import SOURCE_FILE
from goldsmith.engine.transforms.latest_per_key import latest_per_key
from goldsmith.engine.writers.append import append
from goldsmith.engine.writers.merge import merge
from goldsmith.engine.writers.overwrite import overwrite
from goldsmith.engine.writers.scd2 import scd2
from goldsmith.engine.writers.writer import Writing
from goldsmith.planning.lake import STARTED_OVER
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
        self.resource = (target.location or target.target_id).rstrip("/")

    def schema(self, rows: DataFrame) -> StructType | None:
        del rows  # the table knows its own types
        return self.table.schema() if self.table.exists() else None

    def write_aside(self, order: Order) -> Aside:
        branch = _branch(order.stage_run_id)
        self._prepare(order, branch)
        faults.reach("branch-made")
        if order.needs_pass or order.mode in ("merge", "scd2"):
            measured = self._write_kept(order, branch)
        else:
            measured = self._write_observed(order, branch)
        faults.reach("written")
        summary = self.table.summary(order.stage_run_id) or {}
        size = summary.get("added-files-size")
        return Aside(measured={**measured, "summary": summary}, bytes=int(size) if size else None)

    def _prepare(self, order: Order, branch: str) -> None:
        fitted = order.fitted
        rows = fitted.rows.drop("_discard")
        location = lake_address(self.places, self.target.location or "")
        properties = {
            str(key): str(value)
            for key, value in dict(self.target.options.get("properties", {})).items()
        }
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
        self.table.drop_branch(branch)
        self.table.create_branch(branch)

    def _write_observed(self, order: Order, branch: str) -> dict[str, Any]:
        """Measure on the way to the table: the rows are evaluated once."""
        from pyspark.sql import Observation

        seen = Observation("goldsmith")
        rows = order.fitted.rows.observe(seen, *order.measures)
        self._write(order, _kept(rows), branch)
        return dict(seen.get)

    def _write_kept(self, order: Order, branch: str) -> dict[str, Any]:
        """Keep the rows first, measure them, then write from there.

        A MERGE reads its source twice, and takes none that could differ between the two.
        """
        rows = order.fitted.rows.localCheckpoint(eager=True)
        faults.reach("rows-kept")
        measured = rows.agg(*order.measures).collect()[0].asDict()
        self._write(order, _kept(rows), branch)
        return dict(measured)

    def _write(self, order: Order, rows: DataFrame, branch: str) -> None:
        mode = order.mode
        if order.from_scratch and mode == "merge":
            rows = latest_per_key(rows, keys=order.keys, newest_by=order.watermark)
        if order.from_scratch and mode == "scd2":
            self._empty(branch)
        elif order.from_scratch:
            mode = "overwrite"
        if order.replaced_files and mode == "append":
            self._take_back(order.replaced_files, branch)
            faults.reach("rows-taken-back")
        if order.replaced_rows is not None and mode == "append":
            self._take_back_rows(order.replaced_rows, branch)
        writing = Writing(
            rows=rows,
            table=self.table,
            branch=branch,
            stage_run_id=order.stage_run_id,
            keys=order.keys,
            watermark=order.watermark,
            options={} if order.from_scratch else order.options,
        )
        with self.table.marked(STARTED_OVER) if order.from_scratch else nullcontext():
            _WRITERS[mode](writing)

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
        if not self.table.exists():
            return None
        snapshot = self.table.published(stage_run_id)
        if snapshot is None:
            return None
        found = _published(self.table.summary(stage_run_id) or {"snapshot_id": snapshot})
        return replace(found, snapshot=snapshot)

    def cancel(self) -> bool:
        return False  # all of it is Spark's work, and Spark's jobs are cancelled by their tag

    def clean(self, stage_run_id: str) -> None:
        if self.table.exists():
            self.table.drop_branch(_branch(stage_run_id))


def _branch(stage_run_id: str) -> str:
    return f"run_{stage_run_id}"


def _kept(rows: DataFrame) -> DataFrame:
    """Rows without the ones the schema policy discards."""
    if "_discard" not in rows.columns:
        return rows
    return rows.where("NOT coalesce(_discard, false)").drop("_discard")


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
