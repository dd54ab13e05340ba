"""Keeping lake tables well: small files compacted, old snapshots expired, stray files removed.

Never what somebody needs: the snapshots a stage downstream reads on from and all after them,
those within the target's retention, and what a branch or a tag holds. What nobody refers to is
removed only once it is older than any stage run could be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.datasets import Source, Target
from goldsmith.engine.lake import LakeTable
from goldsmith.errors import GoldsmithError
from goldsmith.journal.definitions import input_snapshots
from goldsmith.journal.journal import Journal
from goldsmith.planning.lake import history, load_table
from goldsmith.planning.neighbourhood import Dataset
from goldsmith.planning.places import Places
from goldsmith.planning.survey import Survey

#: How long readers may look at a state, unless a target's `retain_days` says otherwise.
RETAIN_DAYS = 5.0
#: So many small files of one partition are worth a rewrite.
MIN_FILES = 5
_SMALL = 0.75
_FILE_SIZE = 512 * 1024 * 1024
#: Iceberg itself refuses less: a file may belong to a commit that is under way.
_ORPHANS_AFTER = timedelta(days=1)


@dataclass(eq=False, kw_only=True)
class BadRetention(GoldsmithError):
    """A target's retention is no number of days."""

    target: str
    said: str

    def __str__(self) -> str:
        return f"The target {self.target} has the option retain_days: {self.said}."

    @property
    def hint(self) -> str:
        return "Write a number of days, 0 or more."


@dataclass(frozen=True, kw_only=True, slots=True)
class Maintenance:
    """What there is to do for a lake table."""

    dataset_id: str
    files: int
    small_files: int
    #: Snapshots nobody needs any more, oldest first.
    expire: tuple[str, ...]
    #: Snapshots that are kept though they are old, with the reason.
    kept: Mapping[str, str] = field(default_factory=dict)
    #: Stray files older than this are removed; None: others have files below its location.
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
    dataset: Dataset, survey: Survey, journal: Journal, places: Places, now: datetime
) -> Maintenance | None:
    """What there is to do for a lake table; None where there is none. Spark is not started."""
    table = load_table(dataset, places)
    if table is None or table.current_snapshot() is None or dataset.target is None:
        return None
    old = now - retention(dataset.target)
    expire, kept = _old_snapshots(dataset, survey, journal, places, old, table)
    files, small = _files(table)
    return Maintenance(
        dataset_id=dataset.dataset_id,
        files=files,
        small_files=small,
        expire=expire,
        kept=kept,
        orphans_before=min(old, now - _ORPHANS_AFTER)
        if _is_alone(dataset, survey, places)
        else None,
    )


def retention(target: Target) -> timedelta:
    """How long the states of a table are kept for readers."""
    said = target.options.get("retain_days", RETAIN_DAYS)
    if isinstance(said, bool) or not isinstance(said, int | float) or said < 0:
        raise BadRetention(target=target.target_id, said=str(said))
    return timedelta(days=said)


def _is_alone(dataset: Dataset, survey: Survey, places: Places) -> bool:
    """Nobody else has files at or below a table's location, which would look like strays."""
    settings = places.settings
    others = [target.location for target in survey.rows.rows(Target) if target != dataset.target]
    # A table that is read may have a row in sources too.
    sources = (one for one in survey.rows.rows(Source) if one.source_id != dataset.dataset_id)
    others += [source.s3_path for source in sources]
    others += [settings.lake.warehouse, settings.staging.folder]
    mine = _folder(dataset.location, places)
    return mine is not None and not any(
        (other := _folder(one, places)) is not None and other.startswith(mine) for one in others
    )


def _folder(location: str | None, places: Places) -> str | None:
    """A location as a folder, as it really is; None for the name of a warehouse table."""
    if not location:
        return None
    return places.address(str(location)).rstrip("/") + "/"


def _old_snapshots(
    dataset: Dataset,
    survey: Survey,
    journal: Journal,
    places: Places,
    old: datetime,
    table: Any,
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Old snapshots nobody needs, and those somebody does with the reason."""
    past = history(dataset, places)
    needed = dict(_needed(dataset, survey, journal))
    for name, ref in table.metadata.refs.items():
        needed.setdefault(str(ref.snapshot_id), f"it is what {name} points to")
    line = [name for name, _snapshot in past.line()]
    read_on = [place for place, name in enumerate(line) if name in needed]
    # Whoever reads on from a snapshot has to find the way from there to the newest.
    on_the_way = set(line[: max(read_on, default=0) + 1])
    expire, kept = [], {}
    for name, one in sorted(
        past.snapshots.items(), key=lambda item: (item[1].at is None, item[1].at)
    ):
        if one.at is None or one.at >= old or name == past.current:
            continue
        if name in needed:
            kept[name] = needed[name]
        elif name in on_the_way:
            kept[name] = "a stage reads on from one before it"
        else:
            expire.append(name)
    return tuple(expire), kept


def _needed(dataset: Dataset, survey: Survey, journal: Journal) -> Iterator[tuple[str, str]]:
    """The snapshots stages read on from, and those that are being read."""
    seen: set[str] = set()
    asked = (
        sa.select(input_snapshots)
        .where(input_snapshots.c.dataset_id == dataset.dataset_id)
        .where(input_snapshots.c.superseded_by.is_(None))
        .order_by(input_snapshots.c.at.desc())
    )
    with journal.reading() as connection:
        rows = connection.execute(asked).mappings().all()
    for row in rows:
        consumer = row["consumer"]
        if not row["counted"]:
            yield row["snapshot"], f"{consumer} is reading it"
        elif consumer in survey.stages and consumer not in seen:
            seen.add(consumer)
            yield row["snapshot"], f"{consumer} reads on from it"


def _files(table: Any) -> tuple[int, int]:
    """How many files there are, and how many small ones that a rewrite would take together."""
    said = table.properties.get("write.target-file-size-bytes")
    small = _SMALL * (int(said) if said else _FILE_SIZE)
    listed = table.inspect.files()
    names = listed.column_names
    sizes = listed.column("file_size_in_bytes").to_pylist()
    parts = listed.column("partition").to_pylist() if "partition" in names else [None] * len(sizes)
    groups = Counter(str(part) for size, part in zip(sizes, parts, strict=True) if size < small)
    return len(sizes), sum(number for number in groups.values() if number >= MIN_FILES)


def maintain(table: LakeTable, planned: Maintenance) -> dict[str, int]:
    """Do it; the lease is held. How many files and snapshots it came to."""
    done = {"compacted_files": 0, "expired_snapshots": 0, "orphans_removed": 0}
    if planned.small_files:
        done["compacted_files"] = table.compact(MIN_FILES)
    if planned.expire:
        table.expire(planned.expire)
        done["expired_snapshots"] = len(planned.expire)
    if planned.orphans_before is not None:
        done["orphans_removed"] = table.remove_orphans(planned.orphans_before)
    return done
