"""The input selection: what a stage run reads of each input, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from goldsmith.errors import GoldsmithError
from goldsmith.planning.reasons import ReadReason, ReasonCode, reason
from goldsmith.planning.window import Window
from goldsmith.storage.files import ListedFile


@dataclass(frozen=True, kw_only=True, slots=True)
class Consumed:
    """What one stage run reads: files by dataset, and the newest snapshot by dataset."""

    files: Mapping[str, Sequence[ListedFile]] = field(default_factory=dict)
    snapshots: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class RowWindow:
    """Rows whose time column lies within a window."""

    column: str
    window: Window


@dataclass(frozen=True, kw_only=True, slots=True)
class InputRead:
    """What is new in one input since the stage last read it."""

    dataset_id: str
    #: `files`, `table` or `warehouse`.
    kind: str
    #: The location in the catalog row, and its address in this environment.
    location: str | None
    address: str | None
    #: `new`: only new rows are read; `all`: every row.
    read: str
    #: Why the input gives a reason to run, or why it gives none.
    reasons: tuple[ReadReason, ...]
    files: int | None = None
    bytes: int | None = None
    since: str | None = None
    until: str | None = None
    #: True: nothing to read. None: not known, as for a warehouse table.
    empty: bool | None = None
    #: Rows of the table were replaced or deleted, not only added.
    changed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class InputSelection:
    """Which files, snapshots and rows of the inputs a stage run reads, and why."""

    consumed: Consumed = field(default_factory=Consumed)
    #: The reasons to run; empty: nothing new.
    reasons: tuple[ReadReason, ...] = ()
    #: Notes for the user besides the reasons.
    notes: tuple[str, ...] = ()
    #: Each input in the order of the stage context.
    inputs: tuple[InputRead, ...] = ()
    #: Rewritten files whose earlier rows an append replaces.
    rewritten: tuple[str, ...] = ()
    #: By table: the snapshot up to which it was read before.
    since: Mapping[str, str | None] = field(default_factory=dict)
    #: The stage run replaces all rows of the target.
    starts_over: bool = False
    #: Files with unchanged content and a new etag: dataset, path, etag in the ledger, new etag.
    touched: tuple[tuple[str, str, str, str], ...] = ()
    #: Earlier spellings of the paths of rewritten files, as quarantined rows name them.
    former: tuple[str, ...] = ()
    #: Files of the first input that were read before and are read again, in any write mode.
    read_again: tuple[str, ...] = ()
    #: The part that the ledger records; None: all of `consumed`.
    counted_input: Consumed | None = None
    #: Read only these rows of the first input.
    rows_of: RowWindow | None = None
    #: New files of the first input that are left to the next attempt.
    files_left: int = 0
    #: One sentence for each source that has no files and never had any.
    missing: tuple[str, ...] = ()
    #: Why the stage must not run like this.
    refused: GoldsmithError | None = None

    @property
    def runs(self) -> bool:
        """There is a reason to run."""
        return bool(self.reasons)

    @property
    def because(self) -> str:
        """Every reason and note in one text."""
        if self.refused is not None:
            return reason(ReasonCode.REFUSED, error=self.refused).sentence
        texts = [why.sentence for why in self.reasons]
        if not texts:
            nothing = reason(ReasonCode.NOTHING_NEW).sentence
            details = "; ".join(why.sentence for item in self.inputs for why in item.reasons)
            texts = [f"{nothing} ({details})" if details else nothing]
        return "; ".join(dict.fromkeys((*texts, *self.notes, *self.missing)))

    def differs_from(self, plan: InputSelection) -> bool:
        """The plan had other reasons, or would have read other files or snapshots."""
        if any(why.code is ReasonCode.UPSTREAM for why in plan.reasons):
            return False  # the plan left the decision open
        return self.reasons != plan.reasons or self._read() != plan._read()

    def _read(self) -> tuple[object, ...]:
        files = {name: [f.path for f in seen] for name, seen in self.consumed.files.items()}
        return files, dict(self.consumed.snapshots), self.starts_over
