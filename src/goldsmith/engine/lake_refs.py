"""A lake table settled without Spark: its branches, and what its main holds, by pyiceberg.

Whoever settles a stage run must not wait for a slot of Spark's: the tasks of the run that was
stopped may hold all of them, and the JVM may be gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldsmith.planning.lake import RUN_PROPERTY, current_of
from goldsmith.planning.lake_tables import metadata_at, table_at
from goldsmith.planning.places import Places


class LakeRefs:
    """Names and states of one Iceberg table."""

    def __init__(self, places: Places, layer: str, table: str) -> None:
        self.places = places
        self.parts = (layer, table)

    def exists(self) -> bool:
        return bool(self._said())

    def drop_branch(self, branch: str) -> None:
        """Take a branch away; what was on it alone is nobody's any more."""
        from pyiceberg.exceptions import CommitFailedException

        while (table := self._load()) is not None and branch in table.metadata.refs:
            try:
                table.manage_snapshots().remove_branch(branch).commit()
            except CommitFailedException:
                continue  # somebody else changed the table meanwhile: look again

    def published(self, run_id: str) -> Mapping[str, Any] | None:
        """Snapshot id and summary of what a stage run published to main; None where it did not."""
        said = self._said()
        known = {str(one["snapshot-id"]): one for one in said.get("snapshots", ())}
        at = current_of(said)
        while at is not None and at in known:
            if known[at].get("summary", {}).get(RUN_PROPERTY) == run_id:
                return _summary(known[at])
            parent = known[at].get("parent-snapshot-id")
            at = None if parent is None else str(parent)
        return None

    def written(self, run_id: str) -> Mapping[str, Any]:
        """Snapshot id and summary of what a stage run wrote, on whichever branch it is."""
        for one in reversed(self._said().get("snapshots", ())):
            if one.get("summary", {}).get(RUN_PROPERTY) == run_id:
                return _summary(one)
        return {}

    def has_files_of(self, run_id: str) -> bool:
        """Some file of the newest state lies in a folder named after the run, however addressed."""
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
        return table_at(self.places, self.parts)

    def _said(self) -> Mapping[str, Any]:
        """What the table says of itself; nothing where there is none."""
        return metadata_at(self.places, self.parts) or {}


def _summary(snapshot: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"snapshot_id": str(snapshot["snapshot-id"]), **snapshot.get("summary", {})}
