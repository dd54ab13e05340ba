"""Maintain lake tables: compact small files, expire old snapshots, remove orphan files.

Snapshots are kept if a downstream stage continues from them or an earlier one, if they are within
the target's retention, or if a branch or tag refers to them. Orphan files are removed only once
they are older than any stage run could be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.datasets import Source, Target
from goldsmith.engine.lake.lake_table import LakeTable
from goldsmith.errors import GoldsmithError
from goldsmith.journal.definitions import input_snapshots, stage_ledgers
from goldsmith.journal.journal import Journal
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.lake import history, load_table, name_of
from goldsmith.planning.stage_context import Dataset
from goldsmith.storage.lake_tables import metadata_files, readable
from goldsmith.storage.storage import Storage

#: Days to keep snapshots for readers; a target's `retain_days` overrides it.
RETAIN_DAYS = 5.0
#: The least number of small files of one partition to compact.
MIN_FILES = 5
_SMALL = 0.75
_FILE_SIZE = 512 * 1024 * 1024
#: Iceberg refuses less: a file may belong to an unfinished commit.
_ORPHANS_AFTER = timedelta(days=1)


@dataclass(eq=False, kw_only=True)
class BadRetention(GoldsmithError):
    """A target's retain_days is no number of days."""

    target: str
    value: str

    def __str__(self) -> str:
        return f"The target {self.target} has the option retain_days: {self.value}."

    @property
    def hint(self) -> str:
        return "Write a number of days, 0 or more."


@dataclass(frozen=True, kw_only=True, slots=True)
class Maintenance:
    """The planned maintenance of a lake table."""

    dataset_id: str
    files: int
    small_files: int
    #: Snapshots to expire, oldest first.
    expire: tuple[str, ...]
    #: Old snapshots that are kept, with the reason.
    kept: Mapping[str, str] = field(default_factory=dict)
    #: Remove orphan files older than this; None: other data lies below the table's location.
    orphans_before: datetime | None = None

    def as_plain(self) -> dict[str, Any]:
        return {
            "dataset_id": self.dataset_id,
            "files": self.files,
            "small_files": self.small_files,
            "expire": list(self.expire),
            "kept": dict(self.kept),
            "orphans_before": self.orphans_before and self.orphans_before.isoformat(),
        }


def plan_maintenance(
    dataset: Dataset, catalog_index: CatalogIndex, journal: Journal, storage: Storage, now: datetime
) -> Maintenance | None:
    """Plan the maintenance of a lake table, without Spark; None without a table or snapshot."""
    table = load_table(dataset, storage)
    if table is None or table.current_snapshot() is None or dataset.target is None:
        return None
    old = now - retention(dataset.target)
    expire, kept = _old_snapshots(dataset, catalog_index, journal, storage, old, table)
    with readable(name_of(dataset) or ()):
        files, small = _files(table)
    return Maintenance(
        dataset_id=dataset.dataset_id,
        files=files,
        small_files=small,
        expire=expire,
        kept=kept,
        orphans_before=min(old, now - _ORPHANS_AFTER)
        if _is_alone(dataset, catalog_index, storage)
        else None,
    )


def retention(target: Target) -> timedelta:
    """How long the snapshots of a table are kept for readers."""
    days = target.options.get("retain_days", RETAIN_DAYS)
    if isinstance(days, bool) or not isinstance(days, int | float) or days < 0:
        raise BadRetention(target=target.target_id, value=str(days))
    return timedelta(days=days)


def _is_alone(dataset: Dataset, catalog_index: CatalogIndex, storage: Storage) -> bool:
    """Whether no other data lies at or below a table's location; it would look like orphans."""
    settings = storage.settings
    others = [
        target.location for target in catalog_index.rows.rows(Target) if target != dataset.target
    ]
    # The table itself may also be a row of `sources`.
    sources = (
        entry for entry in catalog_index.rows.rows(Source) if entry.source_id != dataset.dataset_id
    )
    others += [source.s3_path for source in sources]
    others += [settings.lake.warehouse, settings.staging.folder]
    own_folder = _folder(dataset.location, storage)
    # A table that no catalog row names, because its target was renamed, may still lie there.
    own = name_of(dataset)
    others += [at for name, at in metadata_files(storage).items() if name != own]
    return own_folder is not None and not any(
        (other := _folder(entry, storage)) is not None and other.startswith(own_folder)
        for entry in others
    )


def _folder(location: str | None, storage: Storage) -> str | None:
    """The real folder of a location, with a trailing slash; None without a location."""
    if not location:
        return None
    return storage.address(str(location)).rstrip("/") + "/"


def _old_snapshots(
    dataset: Dataset,
    catalog_index: CatalogIndex,
    journal: Journal,
    storage: Storage,
    old: datetime,
    table: Any,
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Old snapshots to expire, and old snapshots to keep with the reason."""
    past = history(dataset, storage)
    needed = dict(_needed(dataset, catalog_index, journal))
    for name, ref in table.metadata.refs.items():
        needed.setdefault(str(ref.snapshot_id), f"it is what {name} points to")
    line = [name for name, _snapshot in past.line()]
    read_on = [index for index, name in enumerate(line) if name in needed]
    # An incremental read needs every snapshot from its start to the newest.
    on_the_way = set(line[: max(read_on, default=0) + 1])
    expire, kept = [], {}
    for name, snapshot in sorted(
        past.snapshots.items(), key=lambda item: (item[1].at is None, item[1].at)
    ):
        if snapshot.at is None or snapshot.at >= old or name == past.current:
            continue
        if name in needed:
            kept[name] = needed[name]
        elif name in on_the_way:
            kept[name] = "a stage reads on from one before it"
        else:
            expire.append(name)
    return tuple(expire), kept


def _needed(
    dataset: Dataset, catalog_index: CatalogIndex, journal: Journal
) -> Iterator[tuple[str, str]]:
    """The snapshots from which stages continue, and those that are being read."""
    seen: set[str] = set()
    ledger = stage_ledgers.c
    query = (
        sa.select(input_snapshots, ledger.pipeline_id, ledger.stage_order, ledger.target_id)
        .outerjoin(stage_ledgers, ledger.ledger_id == input_snapshots.c.consumer)
        .where(input_snapshots.c.dataset_id == dataset.dataset_id)
        .where(input_snapshots.c.superseded_by.is_(None))
        .order_by(input_snapshots.c.token.desc().nulls_last(), input_snapshots.c.at.desc())
    )
    with journal.reading() as connection:
        rows = connection.execute(query).mappings().all()
    for row in rows:
        consumer = row["consumer"]
        stage = f"{row['pipeline_id']}-{row['stage_order']}"
        # The ledger of a renumbered stage still has the old number; find the stage by its target.
        is_read_on = (
            stage in catalog_index.stages or row["target_id"] in catalog_index.rows.writers_of
        )
        if not row["counted"]:
            yield row["snapshot"], f"{stage} is reading it"
        elif is_read_on and consumer not in seen:
            seen.add(consumer)
            yield row["snapshot"], f"{stage} reads on from it"


def _files(table: Any) -> tuple[int, int]:
    """The number of data files, and of small files that a compaction would merge."""
    file_size = table.properties.get("write.target-file-size-bytes")
    small = _SMALL * (int(file_size) if file_size else _FILE_SIZE)
    listed = table.inspect.files()
    names = listed.column_names
    sizes = listed.column("file_size_in_bytes").to_pylist()
    parts = listed.column("partition").to_pylist() if "partition" in names else [None] * len(sizes)
    groups = Counter(str(part) for size, part in zip(sizes, parts, strict=True) if size < small)
    return len(sizes), sum(number for number in groups.values() if number >= MIN_FILES)


def maintain(table: LakeTable, planned: Maintenance) -> dict[str, int]:
    """Run the planned maintenance; return counts. The caller holds the lease."""
    done = {"compacted_files": 0, "expired_snapshots": 0, "orphans_removed": 0}
    if planned.small_files:
        done["compacted_files"] = table.compact(MIN_FILES)
    if planned.expire:
        table.expire(planned.expire)
        done["expired_snapshots"] = len(planned.expire)
    if planned.orphans_before is not None:
        done["orphans_removed"] = table.remove_orphans(planned.orphans_before)
    return done
