"""The files, snapshots and window that a stage run reads, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from goldsmith.planning.window import Window
from goldsmith.storage.files import ListedFile


@dataclass(frozen=True, kw_only=True, slots=True)
class Consumed:
    """What one stage run reads: files by dataset, and the newest snapshot by dataset."""

    files: Mapping[str, Sequence[ListedFile]] = field(default_factory=dict)
    snapshots: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class InputSelection:
    """Which files, snapshots and rows of the inputs a stage run reads."""

    consumed: Consumed
    #: Rewritten files whose earlier rows an append replaces.
    rewritten: tuple[str, ...]
    #: By table: the snapshot up to which it was read before.
    since: Mapping[str, str | None]
    #: The reason to run; None: nothing new.
    because: str | None
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


@dataclass(frozen=True, kw_only=True, slots=True)
class RowWindow:
    """Rows whose time column lies within a window."""

    column: str
    window: Window
