"""Create, branch, write, publish and query Iceberg tables with Spark SQL.

A stage run writes to a branch named after it, which starts from `main`. Publishing fast-forwards
`main`; Iceberg refuses that if `main` has moved, so only one of two writers wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from goldsmith.engine.names import literal, name, type_name
from goldsmith.engine.partitions import partition_sql
from goldsmith.engine.shape.nested import Path
from goldsmith.errors import GoldsmithError
from goldsmith.planning.lake import RUN_PROPERTY
from goldsmith.storage.storage import LAKE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

_OPTION = f"snapshot-property.{RUN_PROPERTY}"
_PROPERTIES = {
    "format-version": "2",
    # Iceberg refuses a changelog over merge-on-read tables: tables stay copy-on-write.
    "write.delete.mode": "copy-on-write",
    "write.update.mode": "copy-on-write",
    "write.merge.mode": "copy-on-write",
    "write.parquet.compression-codec": "zstd",
}


@dataclass(eq=False, kw_only=True)
class LostRace(GoldsmithError):
    """Another writer published to the table while this stage run was writing."""

    transient = True
    exit_code = 1

    table: str
    cause: str

    def __str__(self) -> str:
        return f"The table {self.table} was changed by somebody else meanwhile: {self.cause}"

    @property
    def hint(self) -> str:
        return "Nothing was published. The stage has to be planned and run again."


@dataclass(eq=False, kw_only=True)
class SnapshotMissing(GoldsmithError):
    """A write ended without an error, but the table has no snapshot of it."""

    transient = True
    exit_code = 1

    table: str
    stage_run: str

    def __str__(self) -> str:
        return f"Spark wrote to {self.table}, and no snapshot of {self.stage_run} is there."

    @property
    def hint(self) -> str:
        return "Nothing was published. See the settings under [lake]: Spark may use another list."


class LakeTable:
    """One Iceberg table in one Spark session."""

    def __init__(self, spark: SparkSession, layer: str, table: str) -> None:
        self.spark = spark
        self.parts = (LAKE, layer, table)

    def __str__(self) -> str:
        return ".".join(self.parts)

    @property
    def sql_name(self) -> str:
        return name(*self.parts)

    def branch_name(self, branch: str) -> str:
        """The table name for a write to the branch; other spellings silently write to main."""
        return name(*self.parts, f"branch_{branch}")

    def exists(self) -> bool:
        return bool(self.spark.catalog.tableExists(self.sql_name))

    def schema(self) -> StructType:
        return self.spark.table(self.sql_name).schema

    def create(
        self,
        schema: StructType,
        *,
        location: str,
        partition_by: Sequence[str],
        properties: Mapping[str, str],
    ) -> None:
        """Create the empty table if it does not exist."""
        self._create_namespace()
        columns = ", ".join(f"{name(f.name)} {type_name(f.dataType)}" for f in schema.fields)
        parts = ", ".join(partition_sql(schema, expression) for expression in partition_by)
        partitioning = f" PARTITIONED BY ({parts})" if parts else ""
        all_properties = {**_PROPERTIES, **properties}
        listed = ", ".join(f"{literal(k)} = {literal(v)}" for k, v in all_properties.items())
        self.spark.sql(
            f"CREATE TABLE IF NOT EXISTS {self.sql_name} ({columns}) USING iceberg{partitioning}"
            f" LOCATION {literal(location.rstrip('/'))} TBLPROPERTIES ({listed})"
        )

    def _create_namespace(self) -> None:
        namespace = name(*self.parts[:2])
        if self.spark.catalog.databaseExists(namespace):
            return
        try:
            self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
        except Exception:
            # Two stages may create it at once, and the lake catalog then refuses the second.
            if not self.spark.catalog.databaseExists(namespace):
                raise

    def set_property(self, key: str, value: str) -> None:
        assignment = f"{literal(key)} = {literal(value)}"
        self.spark.sql(f"ALTER TABLE {self.sql_name} SET TBLPROPERTIES ({assignment})")

    def add_columns(self, fields: Sequence[tuple[Path, DataType]]) -> None:
        columns = ", ".join(f"{name(*path)} {type_name(type_)}" for path, type_ in fields)
        self.spark.sql(f"ALTER TABLE {self.sql_name} ADD COLUMNS ({columns})")

    def widen(self, path: Path, type_: DataType) -> None:
        to = type_name(type_)
        self.spark.sql(f"ALTER TABLE {self.sql_name} ALTER COLUMN {name(*path)} TYPE {to}")

    def create_branch(self, branch: str) -> None:
        self.spark.sql(f"ALTER TABLE {self.sql_name} CREATE BRANCH {name(branch)}")

    def drop_branch(self, branch: str) -> None:
        self.spark.sql(f"ALTER TABLE {self.sql_name} DROP BRANCH IF EXISTS {name(branch)}")

    def branches(self) -> list[str]:
        """All branches except main."""
        rows = self.spark.sql(f"SELECT name FROM {name(*self.parts, 'refs')}").collect()
        return [row[0] for row in rows if row[0] != "main"]

    def publish(self, branch: str) -> None:
        """Fast-forward main to the branch in one atomic step."""
        table = literal(".".join(name(part) for part in self.parts[1:]))
        try:
            self.spark.sql(
                f"CALL {name(LAKE)}.system.fast_forward({table}, 'main', {literal(branch)})"
            )
        except Exception as error:
            text = str(error)
            if "not an ancestor" in text or "CommitFailed" in text or "Ref does not exist" in text:
                raise LostRace(table=str(self), cause=text.splitlines()[0]) from error
            raise

    def roll_back(self, snapshot: str) -> None:
        """Set main back to an earlier snapshot."""
        self._call("rollback_to_snapshot", f"snapshot_id => {int(snapshot)}")

    def compact(self, min_files: int) -> int:
        """Merge the small files of each partition; return how many were merged."""
        options = f"options => map('min-input-files', {literal(str(min_files))})"
        return int(self._call("rewrite_data_files", options)[0][0])

    def expire(self, snapshots: Sequence[str]) -> None:
        """Expire these snapshots and delete the files that only they use."""
        listed = ", ".join(str(int(snapshot)) for snapshot in snapshots)
        # Without `older_than` Iceberg would expire more snapshots, by its default age.
        self._call(
            "expire_snapshots",
            "older_than => TIMESTAMP '1970-01-02 00:00:00'",
            f"snapshot_ids => ARRAY({listed})",
        )

    def remove_orphans(self, before: datetime) -> int:
        """Remove files older than `before` that no snapshot uses; return how many."""
        at = literal(f"{before:%Y-%m-%d %H:%M:%S}")
        return len(self._call("remove_orphan_files", f"older_than => TIMESTAMP {at}"))

    def _call(self, procedure: str, *arguments: str) -> list[Any]:
        """Call one of Iceberg's procedures on this table."""
        table = literal(".".join(name(part) for part in self.parts[1:]))
        listed = ", ".join((f"table => {table}", *arguments))
        return self.spark.sql(f"CALL {name(LAKE)}.system.{procedure}({listed})").collect()

    def summary(self, run_id: str) -> Mapping[str, Any] | None:
        """Summary of the newest snapshot a stage run wrote, on any branch, with its id."""
        rows = self.spark.sql(
            f"SELECT snapshot_id, summary FROM {name(*self.parts, 'snapshots')}"
            f" WHERE summary['{RUN_PROPERTY}'] = {literal(run_id)}"
            " ORDER BY committed_at DESC LIMIT 1"
        ).collect()
        return {"snapshot_id": str(rows[0][0]), **rows[0][1]} if rows else None

    def current_snapshot(self) -> str | None:
        rows = self.spark.sql(
            f"SELECT snapshot_id FROM {name(*self.parts, 'refs')} WHERE name = 'main'"
        ).collect()
        return str(rows[0][0]) if rows else None

    def roll_back_to_ours(self) -> tuple[str | None, str | None]:
        """Set main back to the newest snapshot of a stage run; return the ids before and after."""
        before = self.current_snapshot()
        rows = self.spark.sql(
            f"SELECT s.snapshot_id FROM {name(*self.parts, 'history')} h"
            f" JOIN {name(*self.parts, 'snapshots')} s ON s.snapshot_id = h.snapshot_id"
            f" WHERE h.is_current_ancestor AND s.summary['{RUN_PROPERTY}'] IS NOT NULL"
            " ORDER BY h.made_current_at DESC LIMIT 1"
        ).collect()
        good = str(rows[0][0]) if rows else before
        if good is not None and good != before:
            self.roll_back(good)
        return before, good

    def append(self, rows: DataFrame, branch: str, run_id: str) -> None:
        rows.writeTo(self.branch_name(branch)).option(_OPTION, run_id).append()

    def append_to_main(self, rows: DataFrame, run_id: str) -> None:
        """Append rows directly to main, visible at once."""
        rows.writeTo(self.sql_name).option(_OPTION, run_id).append()

    def added(self, run_id: str) -> DataFrame:
        """The rows added by the newest snapshot with a stage run's id."""
        rows = self.spark.sql(
            f"SELECT snapshot_id, parent_id FROM {name(*self.parts, 'snapshots')}"
            f" WHERE summary['{RUN_PROPERTY}'] = {literal(run_id)}"
            " ORDER BY committed_at DESC LIMIT 1"
        ).collect()
        reader = self.spark.read.format("iceberg")
        if not rows:  # nothing was written
            return self.spark.table(self.sql_name).limit(0)
        reader = reader.option("start-snapshot-id", rows[0][1])
        return reader.option("end-snapshot-id", rows[0][0]).load(self.sql_name)

    def rows_of_branch(self, branch: str) -> DataFrame:
        return self.spark.read.option("branch", branch).table(self.sql_name)

    def overwrite(self, rows: DataFrame, branch: str, run_id: str) -> None:
        """Replace every row."""
        from pyspark.sql import functions as F

        writer = rows.writeTo(self.branch_name(branch)).option(_OPTION, run_id)
        writer.overwrite(F.lit(True))

    def overwrite_partitions(self, rows: DataFrame, branch: str, run_id: str) -> None:
        """Replace the partitions the rows fall into."""
        rows.writeTo(self.branch_name(branch)).option(_OPTION, run_id).overwritePartitions()

    def merge(self, statement: str, run_id: str) -> None:
        """Run a MERGE; its snapshot gets the stage run's id as a property."""
        # A MERGE takes no write option, so the session setting sets the property.
        with self.marked(RUN_PROPERTY, run_id):
            self.spark.sql(statement)

    @contextmanager
    def marked(self, mark: str, value: str = "true") -> Iterator[None]:
        """Set a snapshot property on all snapshots written inside the block."""
        setting = f"spark.sql.iceberg.snapshot-property.{mark}"
        self.spark.conf.set(setting, value)
        try:
            yield
        finally:
            self.spark.conf.unset(setting)
