"""A lake table settled without Spark: its branches, and what its main holds, by pyiceberg.

Whoever settles a stage run must not wait for a slot of Spark's: the tasks of the run that was
stopped may hold all of them, and the JVM may be gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldsmith.planning.lake import RUN_PROPERTY, table_at
from goldsmith.planning.places import Places


class LakeRefs:
    """Names and states of one Iceberg table."""

    def __init__(self, places: Places, layer: str, table: str) -> None:
        self.places = places
        self.parts = (layer, table)

    def exists(self) -> bool:
        return self._load() is not None

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
        from pyiceberg.table.snapshots import ancestors_of

        table = self._load()
        if table is None:
            return None
        for snapshot in ancestors_of(table.current_snapshot(), table.metadata):
            said = snapshot.summary
            if said is not None and said[RUN_PROPERTY] == run_id:
                return {"snapshot_id": str(snapshot.snapshot_id), **said.additional_properties}
        return None

    def written(self, run_id: str) -> Mapping[str, Any]:
        """Snapshot id and summary of what a stage run wrote, on whichever branch it is."""
        table = self._load()
        for snapshot in reversed([] if table is None else table.metadata.snapshots):
            said = {} if snapshot.summary is None else snapshot.summary.additional_properties
            if said.get(RUN_PROPERTY) == run_id:
                return {"snapshot_id": str(snapshot.snapshot_id), **said}
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
