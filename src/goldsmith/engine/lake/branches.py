"""Branches, snapshots and schema of a lake table through pyiceberg, without Spark.

Settling a stage run must not wait for Spark: tasks of the stopped run may hold all its slots,
and the JVM may be gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from goldsmith.errors import GoldsmithError
from goldsmith.planning.lake import RUN_PROPERTY, current_of
from goldsmith.storage.lake_tables import drop_if, metadata_at, table_at
from goldsmith.storage.storage import Storage

#: Table property: the stage run that changed the schema, then schema id and snapshot before.
SCHEMA_BEFORE = "goldsmith.schema-before"
#: Table property: the stage run that created the table.
MADE_BY = "goldsmith.made-by"
_MODES = tuple(f"write.{change}.mode" for change in ("delete", "update", "merge"))


@dataclass(eq=False, kw_only=True)
class NotCopyOnWrite(GoldsmithError):
    """A lake table is set to merge-on-read, so stages that read it would miss changed rows."""

    exit_code = 1

    table: str
    mode: str
    value: str

    def __str__(self) -> str:
        return f"The table {self.table} is not copy-on-write: {self.mode} = {self.value}."

    @property
    def hint(self) -> str:
        return (
            "Stages that read it would miss changed rows. ALTER TABLE … SET TBLPROPERTIES "
            f"('{self.mode}' = 'copy-on-write'). Nothing was published."
        )


class LakeRefs:
    """Branches and snapshots of one Iceberg table."""

    def __init__(self, storage: Storage, layer: str, table: str) -> None:
        self.storage = storage
        self.parts = (layer, table)

    def exists(self) -> bool:
        return bool(self._metadata())

    def drop_unpublished(self, run_id: str | None = None) -> None:
        """Drop a table that a stage run created and that nothing was ever published to.

        With `run_id`, drop it only if that stage run created it.
        """

        def is_unpublished(metadata: Mapping[str, Any]) -> bool:
            made_by = metadata.get("properties", {}).get(MADE_BY)
            is_asked = made_by is not None and run_id in (None, made_by)
            return is_asked and current_of(metadata) is None

        drop_if(self.storage, self.parts, is_unpublished)

    def refuse_merge_on_read(self) -> None:
        """Raise if a table property sets a write mode other than copy-on-write."""
        properties = self._metadata().get("properties", {})
        for mode in _MODES:
            if (value := properties.get(mode, "copy-on-write")) != "copy-on-write":
                raise NotCopyOnWrite(table=".".join(self.parts), mode=mode, value=value)

    def schema_before(self, run_id: str) -> str:
        """The value of SCHEMA_BEFORE for a stage run that is about to change the schema."""
        metadata = self._metadata()
        return f"{run_id} {metadata['current-schema-id']} {current_of(metadata)}"

    def restore_schema(self, run_id: str) -> None:
        """Undo the schema change of a stage run that published nothing."""
        from pyiceberg.exceptions import CommitFailedException
        from pyiceberg.table.update import (
            AssertCurrentSchemaId,
            AssertRefSnapshotId,
            SetCurrentSchemaUpdate,
        )

        while (table := self._load()) is not None:
            changed_by, _, before = table.properties.get(SCHEMA_BEFORE, "").partition(" ")
            schema_id, _, snapshot = before.partition(" ")
            now = table.metadata.current_schema_id
            newest = table.metadata.current_snapshot_id
            # A later snapshot, of any writer, may have values in the new columns.
            if changed_by != run_id or str(newest) != snapshot or str(now) == schema_id:
                return
            unchanged = {"ref": "main", "snapshot-id": newest}
            try:
                table.catalog.commit_table(
                    table,
                    (
                        AssertCurrentSchemaId.model_validate({"current-schema-id": now}),
                        AssertRefSnapshotId.model_validate(unchanged),
                    ),
                    (SetCurrentSchemaUpdate.model_validate({"schema-id": int(schema_id)}),),
                )
            except CommitFailedException:
                continue  # another writer changed the table meanwhile: try again

    def drop_branch(self, branch: str) -> None:
        """Remove a branch; files that only it used become orphans."""
        from pyiceberg.exceptions import CommitFailedException

        while (table := self._load()) is not None and branch in table.metadata.refs:
            try:
                table.manage_snapshots().remove_branch(branch).commit()
            except CommitFailedException:
                continue  # another writer changed the table meanwhile: try again

    def published(self, run_id: str) -> Mapping[str, Any] | None:
        """Summary of the snapshot a stage run published to main, with its id; None without one."""
        metadata = self._metadata()
        known = {
            str(snapshot["snapshot-id"]): snapshot for snapshot in metadata.get("snapshots", ())
        }
        at = current_of(metadata)
        while at is not None and at in known:
            if known[at].get("summary", {}).get(RUN_PROPERTY) == run_id:
                return _summary(metadata, known[at])
            parent = known[at].get("parent-snapshot-id")
            at = None if parent is None else str(parent)
        return None

    def written(self, run_id: str) -> Mapping[str, Any]:
        """Summary of the newest snapshot a stage run wrote, on any branch, with its id."""
        metadata = self._metadata()
        for snapshot in reversed(metadata.get("snapshots", ())):
            if snapshot.get("summary", {}).get(RUN_PROPERTY) == run_id:
                return _summary(metadata, snapshot)
        return {}

    def has_files_of(self, run_id: str) -> bool:
        """Whether the current snapshot uses a file in a folder named after the stage run."""
        table = self._load()
        newest = None if table is None else table.current_snapshot()
        if table is None or newest is None:
            return False
        inside = f"/{run_id}/"
        return any(
            inside in entry.data_file.file_path
            for manifest in newest.manifests(table.io)
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)
        )

    def _load(self) -> Any | None:
        return table_at(self.storage, self.parts)

    def _metadata(self) -> Mapping[str, Any]:
        """The table metadata; empty if there is no table."""
        return metadata_at(self.storage, self.parts) or {}


def _summary(metadata: Mapping[str, Any], snapshot: Mapping[str, Any]) -> Mapping[str, Any]:
    ids = {"snapshot_id": str(snapshot["snapshot-id"]), "table-uuid": metadata.get("table-uuid")}
    return {**ids, **snapshot.get("summary", {})}
