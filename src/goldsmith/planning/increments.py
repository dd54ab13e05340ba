"""Observe a stage's inputs: files not yet in the ledger, snapshots not yet read."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import sqlalchemy as sa

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.prepared import Prepared
from goldsmith.journal.definitions import files_aside, input_files, input_snapshots, stage_runs
from goldsmith.planning import missing_sources
from goldsmith.planning.definition import definition_of
from goldsmith.planning.explain import dataset_kind, read_of
from goldsmith.planning.lake import history
from goldsmith.planning.ledgers import LedgerMatch, Ledgers
from goldsmith.planning.locations import folder
from goldsmith.planning.observed import SeenFiles, SeenInput, SeenTable, SeenWarehouseTable
from goldsmith.planning.provenance import compares_files
from goldsmith.planning.stage_context import Dataset, StageContext
from goldsmith.storage.file_content import is_etag_of, same_content
from goldsmith.storage.files import ListedFile, list_files
from goldsmith.storage.storage import Storage

#: The key in `stage_runs.facts` of a stage run that compared rows of all the files it read.
DEDUPLICATES = "deduplicates"

# These queries run for every stage of every run, so each is built once.
_QUARANTINED_FILES = Prepared(
    sa.select(files_aside.c.path, files_aside.c.etag).where(
        files_aside.c.dataset_id == sa.bindparam("dataset")
    )
)
_KNOWN_FILES = Prepared(
    sa.select(input_files.c.path, input_files.c.size, input_files.c.etag)
    .where(input_files.c.consumer == sa.bindparam("consumer"))
    .where(input_files.c.dataset_id == sa.bindparam("dataset"))
    .where(input_files.c.counted.is_(True), input_files.c.superseded_by.is_(None))
    .order_by(input_files.c.token.asc().nulls_first(), input_files.c.stage_run_id)
)
_LOADS_OF_FILES = Prepared(
    sa.select(
        input_files.c.dataset_id,
        input_files.c.path,
        input_files.c.stage_run_id,
        stage_runs.c.facts,
    )
    .outerjoin(stage_runs, stage_runs.c.stage_run_id == input_files.c.stage_run_id)
    .where(input_files.c.consumer == sa.bindparam("consumer"))
    .where(input_files.c.counted.is_(True), input_files.c.superseded_by.is_(None))
    .order_by(input_files.c.token.asc().nulls_first(), input_files.c.stage_run_id)
)
_FILES_OF_LEDGER = Prepared(
    sa.select(input_files.c.dataset_id, input_files.c.path, input_files.c.size, input_files.c.etag)
    .where(input_files.c.consumer == sa.bindparam("consumer"))
    .where(input_files.c.counted.is_(True), input_files.c.superseded_by.is_(None))
    .order_by(input_files.c.token.asc().nulls_first(), input_files.c.stage_run_id)
)
_READ_UP_TO = Prepared(
    sa.select(input_snapshots.c.snapshot)
    .where(input_snapshots.c.consumer == sa.bindparam("consumer"))
    .where(input_snapshots.c.dataset_id == sa.bindparam("dataset"))
    .where(input_snapshots.c.counted.is_(True))
    .where(input_snapshots.c.superseded_by.is_(None))
    # Tokens rise with every stage run of a target; a clock may go back.
    .order_by(input_snapshots.c.token.desc().nulls_last(), input_snapshots.c.at.desc())
    .limit(1)
)


class Increments:
    """Observes files and snapshots of inputs; lists each location once."""

    def __init__(self, catalog: Catalog, storage: Storage) -> None:
        self._catalog = catalog
        self._storage = storage
        self._listed: dict[str, list[ListedFile]] = {}
        #: Whether a file has the content it had under another etag.
        self._compared: dict[tuple[str, str, str], bool] = {}
        self.ledgers = Ledgers(catalog)
        self._matched: dict[str, LedgerMatch] = {}

    def observe(self, context: StageContext) -> tuple[SeenInput, ...]:
        """Observe every input of a stage: its files or snapshots, and what the ledger knows."""
        return tuple(
            self._seen(context, dataset, index) for index, dataset in enumerate(context.inputs)
        )

    def _seen(self, context: StageContext, dataset: Dataset, index: int) -> SeenInput:
        match dataset_kind(dataset):
            case "files":
                return self._seen_files(context, dataset, index)
            case "table":
                return SeenTable(
                    dataset=dataset,
                    address=self._storage.address(dataset.location or ""),
                    history=history(dataset, self._storage),
                    read_up_to=self.read_up_to(context, dataset),
                )
            case _:
                return SeenWarehouseTable(dataset=dataset, address=dataset.location)

    def _seen_files(self, context: StageContext, dataset: Dataset, index: int) -> SeenFiles:
        known = self.known_files(context, dataset)
        seen = SeenFiles(
            dataset=dataset,
            address=self._storage.address(dataset.location or ""),
            listed=self.files(dataset),
            known=known,
            new=self.new_files(context, dataset, known),
            missing=self.never_there(context, dataset),
        )
        changed = seen.rewritten
        if not changed or index > 0 or read_of(context, index) == "all":
            return seen
        former = self.former_paths(context, dataset)
        again = [*changed, *(former[path] for path in changed if path in former)]
        compared = self.compared_with(context, dataset, again)
        return replace(seen, former=former, deduplicated=frozenset(compared))

    def files(self, dataset: Dataset) -> list[ListedFile]:
        """Every file at a dataset's location that is not quarantined."""
        location = dataset.location or ""
        if location not in self._listed:
            quarantined = self._quarantined_files(dataset.dataset_id)
            self._listed[location] = [
                file
                for file in list_files(location, self._storage)
                if not any(is_etag_of(etag, file) for etag in quarantined.get(file.path, ()))
            ]
        return self._listed[location]

    def _quarantined_files(self, dataset_id: str) -> dict[str, list[str]]:
        """The quarantined files of a dataset by path, with the etags they had then."""
        found: dict[str, list[str]] = {}
        for path, etag in _QUARANTINED_FILES.glance(self._catalog.engine, {"dataset": dataset_id}):
            found.setdefault(path, []).append(etag or "")
        return found

    def listed(self) -> list[ListedFile]:
        """Every file listed so far."""
        return [file for files in self._listed.values() for file in files]

    def look_anew(self) -> None:
        """Forget the listed files and matched ledgers: new files may have arrived since."""
        self._listed.clear()
        self._matched.clear()

    def look_anew_at(self, context: StageContext) -> None:
        """Forget the listed files of a stage's inputs."""
        for dataset in context.inputs:
            self._listed.pop(dataset.location or "", None)

    def ledger(self, context: StageContext, *, anew: bool = False) -> LedgerMatch:
        """The ledger of a stage; `anew` matches it again instead of using the cached match."""
        found = None if anew else self._matched.get(context.stage_id)
        if found is None:
            found = self._matched[context.stage_id] = self.ledgers.match(context)
        return found

    def new_files(
        self,
        context: StageContext,
        dataset: Dataset,
        known: Mapping[str, tuple[int, str]] | None = None,
    ) -> list[ListedFile]:
        """The files whose content no published run of the stage has read."""
        if known is None:
            known = self.known_files(context, dataset)
        there = self.files(dataset)
        same = self.unchanged(there, known)
        return [file for file in there if file.path not in same]

    def unchanged(
        self, files: Iterable[ListedFile], known: Mapping[str, tuple[int, str]]
    ) -> set[str]:
        """The paths of known files whose content has not changed since they were read."""
        same: set[str] = set()
        touched: list[tuple[ListedFile, str]] = []
        for file in files:
            size, noted = known.get(file.path, (None, ""))
            if size != file.size:
                continue
            if is_etag_of(noted, file):
                same.add(file.path)
            else:
                touched.append((file, noted))
        unknown = [pair for pair in touched if _pair_key(*pair) not in self._compared]
        if unknown:
            answers = same_content(unknown, self._storage)
            self._compared |= zip((_pair_key(*pair) for pair in unknown), answers, strict=True)
        return same | {
            file.path for file, noted in touched if self._compared[_pair_key(file, noted)]
        }

    def known_files(self, context: StageContext, dataset: Dataset) -> Mapping[str, tuple[int, str]]:
        """The files that published runs of the stage read: path to size and etag at that time."""
        return {now: seen for now, (_was, seen) in self._loaded(context, dataset).items()}

    def former_paths(self, context: StageContext, dataset: Dataset) -> Mapping[str, str]:
        """Path now to path in the ledger, for files whose spelling changed since they were read."""
        return {
            now: was for now, (was, _seen) in self._loaded(context, dataset).items() if now != was
        }

    def _loaded(
        self, context: StageContext, dataset: Dataset
    ) -> Mapping[str, tuple[str, tuple[int, str]]]:
        """Path now to path, size and etag in the ledger, for every file of a source.

        A source whose id or path spelling changed keeps the files it had before.
        """
        others = {input_.dataset_id for input_ in context.inputs} - {dataset.dataset_id}
        base, prefix = (dataset.location or "").rstrip("/"), folder(dataset.location or "")
        rows = _FILES_OF_LEDGER.glance(
            self._catalog.engine, {"consumer": self.ledger(context).ledger_id}
        )
        found: dict[str, tuple[str, tuple[int, str]]] = {}
        for name, path, size, etag in rows:
            if name in others:
                continue
            now = path if _is_below(path, base) else None
            if now is None and _is_below(same := folder(path), prefix):
                now = base + same[len(prefix) :]
            if now is None and name == dataset.dataset_id:
                now = path  # of an earlier location of the source
            if now is not None:
                found[now] = path, (size, etag or "")
        return found

    def compared_with(
        self, context: StageContext, dataset: Dataset, paths: Collection[str]
    ) -> set[str]:
        """Other files whose rows were compared with those of these files.

        Those are the files of the same load, if the load kept one row of each key, or the stage's
        SQL has a window or a limit.
        """
        mine = {"consumer": self.ledger(context).ledger_id}
        look_ups = {input_.dataset_id for input_ in context.inputs} - {dataset.dataset_id}
        always = compares_files(context)
        loads: dict[str, str] = {}
        deduplicates: dict[str, bool] = {}
        for name, path, stage_run_id, facts in _LOADS_OF_FILES.glance(self._catalog.engine, mine):
            if name in look_ups:
                continue
            loads[path] = stage_run_id
            if stage_run_id not in deduplicates:
                run_facts = json.loads(facts) if isinstance(facts, str) else facts or {}
                deduplicates[stage_run_id] = bool(always or run_facts.get(DEDUPLICATES))
        concerned = {loads[path] for path in paths if path in loads and deduplicates[loads[path]]}
        return {path for path, load in loads.items() if load in concerned} - set(paths)

    def loaded_files(self, context: StageContext, dataset: Dataset) -> set[str]:
        """The files the stage has ever loaded, former targets included."""
        match = self.ledger(context)
        return {
            path
            for ledger_id in (match.ledger_id, *match.former)
            for path in self._files_of(ledger_id, dataset)
        }

    def _files_of(self, ledger_id: str, dataset: Dataset) -> Mapping[str, tuple[int, str]]:
        mine = {"consumer": ledger_id, "dataset": dataset.dataset_id}
        found = _KNOWN_FILES.glance(self._catalog.engine, mine)
        return {path: (size, etag or "") for path, size, etag in found}

    def never_there(self, context: StageContext, dataset: Dataset) -> str | None:
        """A sentence if the source has no file and never had one; else None."""
        if dataset_kind(dataset) != "files" or self.files(dataset):
            return None
        if self.loaded_files(context, dataset) or self._quarantined_files(dataset.dataset_id):
            return None
        return missing_sources.describe(dataset.dataset_id, dataset.location or "", self._storage)

    def definition_changed(self, context: StageContext) -> bool:
        """The stage's definition differs from the one it was last published with."""
        ledger = self.ledger(context).ledger
        published = None if ledger is None or not ledger.published_by else ledger.definition
        return published is not None and published != definition_of(context)

    def read_up_to(self, context: StageContext, dataset: Dataset) -> str | None:
        """The newest snapshot of an input that a published run of the stage has read."""
        mine = {"consumer": self.ledger(context).ledger_id, "dataset": dataset.dataset_id}
        found = _READ_UP_TO.glance(self._catalog.engine, mine)
        return found[0][0] if found else None


def _is_below(path: str, base: str) -> bool:
    return path == base or path.startswith(f"{base}/")


def _pair_key(file: ListedFile, noted: str) -> tuple[str, str, str]:
    return file.path, file.etag, noted
