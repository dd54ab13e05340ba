"""What is new of a stage's inputs: files not yet in the ledger, snapshots not yet read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sqlalchemy as sa

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.prepared import Prepared
from goldsmith.journal.definitions import files_aside, input_files, input_snapshots, stage_runs
from goldsmith.journal.tables import RunStatus
from goldsmith.planning.definition import definition_of
from goldsmith.planning.explain import dataset_kind, read_of
from goldsmith.planning.files import FileSeen, list_files
from goldsmith.planning.lake import Since, history
from goldsmith.planning.neighbourhood import Dataset, Neighbourhood
from goldsmith.planning.places import Places
from goldsmith.planning.plan import News

# Asked for every stage of every run, so built once.
_ASIDE = Prepared(
    sa.select(files_aside.c.path, files_aside.c.etag).where(
        files_aside.c.dataset_id == sa.bindparam("dataset")
    )
)
_KNOWN_FILES = Prepared(
    sa.select(input_files.c.path, input_files.c.size, input_files.c.etag)
    .where(input_files.c.consumer == sa.bindparam("consumer"))
    .where(input_files.c.dataset_id == sa.bindparam("dataset"))
    .where(input_files.c.counted.is_(True), input_files.c.superseded_by.is_(None))
    .order_by(input_files.c.stage_run_id)
)
_LAST_DEFINITION = Prepared(
    sa.select(stage_runs.c.definition)
    .where(stage_runs.c.pipeline_id == sa.bindparam("pipeline"))
    .where(stage_runs.c.stage_order == sa.bindparam("place"))
    .where(stage_runs.c.status == RunStatus.SUCCEEDED.value)
    .order_by(stage_runs.c.started_at.desc(), stage_runs.c.stage_run_id.desc())
    .limit(1)
)
_READ_UP_TO = Prepared(
    sa.select(input_snapshots.c.snapshot)
    .where(input_snapshots.c.consumer == sa.bindparam("consumer"))
    .where(input_snapshots.c.dataset_id == sa.bindparam("dataset"))
    .where(input_snapshots.c.counted.is_(True))
    .where(input_snapshots.c.superseded_by.is_(None))
    .order_by(input_snapshots.c.at.desc())
    .limit(1)
)


class Increments:
    """Looks at inputs, each location once."""

    def __init__(self, catalog: Catalog, places: Places) -> None:
        self._catalog = catalog
        self._places = places
        self._listed: dict[str, list[FileSeen]] = {}

    def __call__(self, near: Neighbourhood) -> tuple[News, ...]:
        return tuple(
            self._news(near, dataset, read_of(near, place))
            for place, dataset in enumerate(near.inputs)
        )

    def _news(self, near: Neighbourhood, dataset: Dataset, read: str) -> News:
        match dataset_kind(dataset):
            case "files":
                return self._of_files(near, dataset, read)
            case "table":
                return self._of_table(near, dataset, read)
            case kind:
                return News(
                    dataset_id=dataset.dataset_id,
                    kind=kind,
                    location=dataset.location,
                    address=dataset.location,
                    read="all",
                    sentence="a warehouse table, which is read whenever the stage runs",
                )

    def files(self, dataset: Dataset) -> list[FileSeen]:
        """Every file of a dataset there is."""
        location = dataset.location or ""
        if location not in self._listed:
            aside = self._aside(dataset.dataset_id)
            self._listed[location] = [
                file
                for file in list_files(location, self._places)
                if (file.path, file.etag) not in aside
            ]
        return self._listed[location]

    def _aside(self, dataset_id: str) -> set[tuple[str, str]]:
        """Files that were set aside, as they were then."""
        found = _ASIDE.glance(self._catalog.engine, {"dataset": dataset_id})
        return {(path, etag) for path, etag in found}

    def listed(self) -> list[FileSeen]:
        """Every file that was listed so far."""
        return [file for files in self._listed.values() for file in files]

    def look_anew(self) -> None:
        """Forget what was listed: files may have come since."""
        self._listed.clear()

    def new_files(
        self,
        near: Neighbourhood,
        dataset: Dataset,
        known: Mapping[str, tuple[int, str]] | None = None,
    ) -> list[FileSeen]:
        """The files no published run of the stage has consumed as they are now."""
        if known is None:
            known = self.known_files(near, dataset)
        return [f for f in self.files(dataset) if known.get(f.path) != (f.size, f.etag)]

    def known_files(self, near: Neighbourhood, dataset: Dataset) -> Mapping[str, tuple[int, str]]:
        """The files published runs of the stage have consumed, as they were then."""
        mine = {"consumer": near.stage_id, "dataset": dataset.dataset_id}
        found = _KNOWN_FILES.glance(self._catalog.engine, mine)
        return {path: (size, etag) for path, size, etag in found}

    def _of_files(self, near: Neighbourhood, dataset: Dataset, read: str) -> News:
        there = self.files(dataset)
        new = self.new_files(near, dataset)
        said = f"{_counted(new)} of {len(there):,}" if len(new) < len(there) else _counted(new)
        return News(
            dataset_id=dataset.dataset_id,
            kind="files",
            location=dataset.location,
            address=self._places.address(dataset.location or ""),
            read=read,
            files=len(new),
            bytes=sum(file.size for file in new),
            empty=not new,
            sentence=f"{said} new" if there else "no files there",
        )

    def _of_table(self, near: Neighbourhood, dataset: Dataset, read: str) -> News:
        since = self.read_up_to(near, dataset)
        before = history(dataset, self._places)
        until, happened = before.current, before.since(since)
        return News(
            dataset_id=dataset.dataset_id,
            kind="table",
            location=dataset.location,
            address=self._places.address(dataset.location or ""),
            read=read,
            since=since,
            until=until,
            empty=happened in (Since.NOTHING, Since.LAID_OUT),
            sentence=_snapshots(since, until, happened),
        )

    def definition_changed(self, near: Neighbourhood) -> bool:
        """The stage was published with another definition than it has now."""
        mine = {"pipeline": near.stage.pipeline_id, "place": near.stage.stage_order}
        found = _LAST_DEFINITION.glance(self._catalog.engine, mine)
        published = found[0][0] if found else None
        return published is not None and published != definition_of(near)

    def read_up_to(self, near: Neighbourhood, dataset: Dataset) -> str | None:
        """The newest snapshot of an input that a published run of the stage has read."""
        mine = {"consumer": near.stage_id, "dataset": dataset.dataset_id}
        found = _READ_UP_TO.glance(self._catalog.engine, mine)
        return found[0][0] if found else None


def _counted(files: Iterable[FileSeen]) -> str:
    found = list(files)
    size = sum(file.size for file in found)
    noun = "file" if len(found) == 1 else "files"
    return f"{len(found):,} {noun} ({size / 1e6:,.2f} MB)" if found else "no files"


def _snapshots(since: str | None, until: str | None, happened: Since) -> str:
    if until is None:
        return "the table has no rows yet"
    match happened:
        case Since.NEVER_READ:
            return f"never read; its newest snapshot is {until}"
        case Since.NOTHING:
            return "no new snapshot"
        case Since.LAID_OUT:
            return "no new rows: its files were only compacted"
        case Since.TAKEN_BACK:
            return f"restored or rebuilt: snapshot {since} is no part of it any more"
        case Since.EXPIRED:
            return f"snapshot {since}, up to which it was read, has expired"
        case Since.ADDED | Since.CHANGED:
            return f"snapshots after {since} up to {until}"
