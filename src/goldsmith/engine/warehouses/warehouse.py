"""The interface of a warehouse: load staged Parquet into a table exactly once, and query tables.

A load is published if, and only if, its stage run's id is in the warehouse's own ledger table.
The ledger row is written in the transaction that changes the target, so that after a restart the
warehouse alone answers whether a load was published.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from goldsmith.errors import GoldsmithError
from goldsmith.settings.warehouse_kinds import WarehouseNeeds

if TYPE_CHECKING:
    from goldsmith.settings.sections import WarehouseSettings
    from goldsmith.storage.storage import Storage


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadColumn:
    """One column of a load, with its Spark type."""

    name: str
    #: Spark's simple string: bigint, decimal(12,2), array<string> …
    type: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """The rows of one stage run to load into one warehouse table."""

    stage_run_id: str
    #: `schema.table`, from the target's row.
    location: str
    #: The name of a write mode.
    mode: str
    columns: tuple[LoadColumn, ...]
    #: Location of the staged Parquet files: a folder or an s3:// prefix.
    staged: str
    #: Number of staged rows, counted when they were written.
    rows: int
    #: Fencing token of the lease: refused if the ledger has a higher one.
    token: int
    keys: tuple[str, ...] = ()
    watermark: str | None = None
    #: All rows of the table are deleted first, in the same transaction.
    from_scratch: bool = False
    #: Column, start and end: rows with start <= column < end are deleted first.
    replaced: tuple[str, datetime, datetime] | None = None
    #: Rows from these source files are deleted first.
    replaced_files: tuple[str, ...] = ()
    #: The target's options: distkey, sortkey …
    options: Mapping[str, object] = field(default_factory=dict)
    #: The stage's options, of which write modes have keys.
    stage_options: Mapping[str, object] = field(default_factory=dict)
    #: `wait`: lock the table first; `end_blocker`: before that, end sessions that hold it.
    lock: str | None = None
    #: Id of the table to load into; None for whichever table exists.
    table_id: str | None = None
    #: Gives the staged files in groups, each once it may be loaded; None: all at once.
    groups: Callable[[], Generator[tuple[str, ...]]] | None = None
    #: Only these files of `staged`; None: all of them.
    files: tuple[str, ...] | None = None

    def micro_batches(self) -> Iterator[Load]:
        """The load in parts that fill one staging table, each once it may be loaded."""
        if self.groups is None:
            yield self
            return
        with closing(self.groups()) as groups:
            for files in groups:
                yield replace(self, groups=None, files=files)


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """The result of a load, as the warehouse counted it."""

    stage_run_id: str
    rows: int
    #: Id of the table after the load: a table that is created again has another.
    table_id: str | None = None


class Warehouse(Protocol):
    """A database that stages load tables into."""

    def columns(self, location: str) -> Mapping[str, str] | None:
        """The table's columns with the warehouse's types; None if there is no table."""

    def loaded(self, location: str, stage_run_id: str) -> Loaded | None:
        """The result of a stage run's load, from the ledger; None if it was not published."""

    def load(self, load: Load, reach: Callable[[str], None]) -> Loaded:
        """Load, publish and write the ledger; call `reach` with the name of each point passed."""

    def clean(self, location: str, stage_run_id: str) -> None:
        """Remove the remains of a load that was not published."""

    def unload(self, location: str, folder: str) -> None:
        """Write a table's rows as Parquet into a folder, for a stage that reads it."""

    def move(self, old: str, new: str) -> None:
        """Rename a table, and its location in the ledger, in one transaction."""

    def cancel(self) -> bool:
        """Cancel the running calls of other threads; False if there are none."""

    def maintain(self, location: str) -> list[str]:
        """Vacuum and analyze a table; return the statements that ran."""

    def close(self) -> None:
        """Close all connections."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Probing:
    """What a probe of `goldsmith config check` gets: the password, its time, a folder test."""

    password: str | None
    #: Seconds a server may take to answer.
    seconds: int
    #: Raises if no file can be written into a folder.
    try_folder: Callable[[Path], object]

    def server(self, kind: str, settings: WarehouseSettings) -> str:
        """A sentence on a server that answered."""
        address = f"{settings.host}:{settings.port}/{settings.database}"
        return f"{kind} at {address} as {settings.user or 'the default user'}"


@dataclass(frozen=True, kw_only=True)
class WarehouseKind(WarehouseNeeds):
    """The declaration of a warehouse: the object in `kind.py` of its folder."""

    #: Takes storage, settings and the seconds to wait for a file; opens no connection yet.
    open: Callable[[Storage, WarehouseSettings, float], Warehouse]
    #: Connects as `goldsmith config check` does; returns a sentence, or raises the reason.
    probe: Callable[[WarehouseSettings, Probing], str]


@dataclass(eq=False, kw_only=True)
class Fenced(GoldsmithError):
    """A process whose lease had expired tried to publish after another took over."""

    exit_code = 1

    location: str
    token: int
    seen: int

    def __str__(self) -> str:
        return (
            f"The load of {self.location} holds token {self.token}, and token {self.seen} "
            "was already given to another process: nothing was published."
        )

    @property
    def hint(self) -> str:
        return "The other process does the work. Nothing has to be done."


@dataclass(eq=False, kw_only=True)
class WarehouseBusy(GoldsmithError):
    """The warehouse does not take a writer right now."""

    transient = True
    exit_code = 1

    where: str
    cause: str

    def __str__(self) -> str:
        return f"The warehouse {self.where} is busy: {self.cause}"

    @property
    def hint(self) -> str:
        return "It is tried again later. A tool that has the file open keeps everybody else out."


@dataclass(eq=False, kw_only=True)
class WarehouseUnreachable(GoldsmithError):
    """The warehouse does not answer."""

    transient = True
    exit_code = 1

    where: str
    cause: str

    def __str__(self) -> str:
        return f"The warehouse {self.where} cannot be reached: {self.cause}"

    @property
    def hint(self) -> str:
        return "`goldsmith config check` tries the connection and says what is wrong."


@dataclass(eq=False, kw_only=True)
class LoadRefused(GoldsmithError):
    """The warehouse refuses rows of a load."""

    exit_code = 1

    location: str
    cause: str
    #: Rows the warehouse named, with its reason for each.
    rows: tuple[str, ...] = ()

    def __str__(self) -> str:
        listed = "".join(f"\n  {row}" for row in self.rows[:5])
        return f"{self.location} could not be loaded: {self.cause}{listed}"

    @property
    def hint(self) -> str:
        return "Nothing was published. Compare the stage's columns with the table's."
