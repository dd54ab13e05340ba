"""What was observed of a stage's inputs and target: the values that the input selection needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from goldsmith.errors import GoldsmithError
from goldsmith.journal.tables import StageRun
from goldsmith.planning.input_selection import Consumed
from goldsmith.planning.lake import TableChange, TableHistory
from goldsmith.planning.stage_context import Dataset
from goldsmith.storage.files import ListedFile


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenFiles:
    """The files of an input, and what the ledger knows of them."""

    dataset: Dataset
    #: The dataset's location in this environment.
    address: str | None = None
    listed: Sequence[ListedFile] = ()
    #: Files that published runs read: path to size and etag at that time.
    known: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    #: Listed files whose content no published run has read.
    new: Sequence[ListedFile] = ()
    #: Rewritten files whose path was spelled differently: path now to path in the ledger.
    former: Mapping[str, str] = field(default_factory=dict)
    #: Other files whose rows were compared with those of rewritten ones.
    deduplicated: frozenset[str] = frozenset()
    #: A sentence if there is no file and never was one.
    missing: str | None = None

    @property
    def rewritten(self) -> list[str]:
        """The paths of files whose content changed since they were read."""
        return [file.path for file in self.new if file.path in self.known]


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenTable:
    """The snapshots of a lake table, and the one up to which the stage has read it."""

    dataset: Dataset
    address: str | None = None
    history: TableHistory
    read_up_to: str | None = None

    @property
    def change(self) -> TableChange:
        """What happened to the table since the stage read it."""
        return self.history.since(self.read_up_to)


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenWarehouseTable:
    """A table in a warehouse: whether it has new rows is not known."""

    dataset: Dataset
    address: str | None = None


SeenInput = SeenFiles | SeenTable | SeenWarehouseTable


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenWindow:
    """What a backfill has to know of its first input and of its target."""

    #: The files of the first input.
    listed: Sequence[ListedFile] = ()
    #: Files outside the window whose rows were compared with those of files in it.
    deduplicated: frozenset[str] = frozenset()
    #: None: the table does not exist yet.
    input_columns: Collection[str] | None = None
    target_columns: Collection[str] | None = None
    #: Days of rows whose time a replay changed.
    moved_days: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class PastState:
    """What a stage had read when an earlier stage run was published, and what is left of it."""

    stage_run_id: str
    #: None: no such stage run is recorded.
    stage_run: StageRun | None = None
    consumed: Consumed = field(default_factory=Consumed)
    #: By dataset: the listed files that were read, if their content is the same.
    unchanged: Mapping[str, Sequence[ListedFile]] = field(default_factory=dict)
    #: By dataset: the snapshots that have not expired.
    snapshots: Mapping[str, Collection[str]] = field(default_factory=dict)
    #: The stage run that replayed quarantined rows into the table before that.
    replayed_by: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class UnnamedRows:
    """Live quarantined rows of one stage run that do not name their file."""

    rows: int
    #: The files which that stage run read; empty for a replay, whose rows may come from any file.
    files: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Observed:
    """Everything the input selection of a stage depends on, besides its rows and run options."""

    #: Each input in the order of the stage context.
    inputs: tuple[SeenInput, ...] = ()
    definition_changed: bool = False
    #: The stage id under which the stage was last published, if it was another one.
    renumbered_from: str | None = None
    #: Why the target does not hold what the ledger counts as loaded.
    problem: GoldsmithError | None = None
    #: Why the target could not be compared with the ledger.
    check_error: GoldsmithError | None = None
    #: Stages of the plan that run before this one and write its inputs.
    upstream: tuple[str, ...] = ()
    #: For the same request, another stage has replaced all rows of the target already.
    emptied: bool = False
    window: SeenWindow | None = None
    past: PastState | None = None
    unnamed: tuple[UnnamedRows, ...] = ()
