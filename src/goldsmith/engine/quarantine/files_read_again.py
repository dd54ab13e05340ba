"""Find files that were read again so that their new rows replace their earlier rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import sqlalchemy as sa

from goldsmith.journal.definitions import input_files, stage_runs
from goldsmith.journal.tables import StageRun

#: Stage run fact: which earlier quarantined rows the stage run replaces.
SUPERSEDES = "supersedes"
#: Its value if every file it reads replaces the earlier rows of that file.
FILES = "files"
#: Its value for an append with read `all`: it adds rows and replaces none.
NOTHING = "nothing"


def count_files(dataset: str) -> sa.Select[Any]:
    """Query the number of files that each stage run of a dataset consumed."""
    files = input_files.c
    return (
        sa.select(files.stage_run_id, sa.func.count())
        .join(stage_runs, stage_runs.c.stage_run_id == files.stage_run_id)
        .where(stage_runs.c.target_id == dataset)
        .group_by(files.stage_run_id)
    )


def read_by_several(dataset: str) -> sa.Select[Any]:
    """Query the files that several stage runs of a ledger consumed, with each stage run."""
    files = input_files.c
    mine = sa.select(stage_runs.c.stage_run_id).where(stage_runs.c.target_id == dataset)
    twice = (
        sa.select(files.consumer, files.path)
        .where(files.stage_run_id.in_(mine))
        .group_by(files.consumer, files.path)
        .having(sa.func.count() > 1)
        .subquery()
    )
    same = sa.and_(twice.c.consumer == files.consumer, twice.c.path == files.path)
    return (
        sa.select(
            files.stage_run_id,
            files.consumer,
            files.dataset_id,
            files.path,
            files.size,
            files.etag,
        )
        .join(twice, same)
        .where(files.stage_run_id.in_(mine))
    )


class _Read(NamedTuple):
    """One file as one stage run in force consumed it."""

    at: int
    stage_run: StageRun
    dataset: str
    version: Any

    def replaces(self, before: _Read) -> bool:
        """Whether this read replaces the rows of the earlier read.

        It does if the file was rewritten or backfilled, or belongs to a lookup input, which is
        read in full every time. Any other repeated read adds rows.
        """
        facts = self.stage_run.facts
        source = (facts.get("ledger") or {}).get("source_id") or self.dataset
        if self.dataset != source or facts.get(SUPERSEDES) == FILES:
            return True
        return facts.get(SUPERSEDES) != NOTHING and self.version != before.version


@dataclass(slots=True)
class ReadAgain:
    """The newest read of each file that replaced its earlier rows, by stage run index."""

    by_file: dict[tuple[str, str], int] = field(default_factory=dict)
    #: By stage run: one flag per file that a later stage run read; True if its rows were replaced.
    later: dict[str, list[bool]] = field(default_factory=dict)

    def add(self, file: tuple[str, str], reads: list[_Read]) -> None:
        """Add the reads of one file by the stage runs in force."""
        reads.sort(key=lambda read: read.at)
        last = max((now.at for before, now in pairwise(reads) if now.replaces(before)), default=-1)
        self.by_file[file] = last
        for read in reads[:-1]:
            self.later.setdefault(read.stage_run.stage_run_id, []).append(read.at < last)


def read_again(
    repeated: Iterable[Any], runs: Mapping[str, StageRun], order: Mapping[str, int]
) -> ReadAgain:
    reads: dict[tuple[str, str], list[_Read]] = {}
    for name, ledger, dataset, path, size, etag in repeated:
        if name in order:
            read = _Read(order[name], runs[name], dataset, (size, etag))
            reads.setdefault((ledger, path), []).append(read)
    found = ReadAgain()
    for file, times in reads.items():
        found.add(file, times)
    return found
