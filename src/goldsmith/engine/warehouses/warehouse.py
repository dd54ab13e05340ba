"""What every warehouse does: load staged Parquet into a table, exactly once, and say what it holds.

A load is decided by one thing only: is its stage run's id in the ledger table of the warehouse
itself? The ledger row is written in the transaction that changes the target, so a restart asks
the warehouse and needs nobody's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from goldsmith.errors import GoldsmithError


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadColumn:
    """One column of a load, in Spark's words."""

    name: str
    #: Spark's simple string: bigint, decimal(12,2), array<string> …
    type: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """One stage run's rows on their way into one warehouse table."""

    stage_run_id: str
    #: `schema.table`, as the target's row says it.
    location: str
    #: append, overwrite, merge or scd2.
    mode: str
    columns: tuple[LoadColumn, ...]
    #: Where the Parquet files lie: a folder, or an s3:// prefix.
    staged: str
    #: How many rows they hold, as the write that made them counted.
    rows: int
    #: The fencing token of the lease: a lower one than the ledger has seen is refused.
    token: int
    keys: tuple[str, ...] = ()
    watermark: str | None = None
    #: What the table held is forgotten first, in the same transaction.
    from_scratch: bool = False
    #: Rows whose column is from the first moment until before the second make way.
    replaced: tuple[str, datetime, datetime] | None = None
    #: The target's options: distkey, sortkey …
    options: Mapping[str, object] = field(default_factory=dict)
    #: `wait`: the table is locked first; `end_blocker`: whoever holds it is ended before.
    lock: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """What a load did, as the warehouse itself counted."""

    stage_run_id: str
    rows: int


class Warehouse(Protocol):
    """A place with tables that people query."""

    def columns(self, location: str) -> Mapping[str, str] | None:
        """The table's columns with the warehouse's own types; None where there is no table."""

    def loaded(self, location: str, stage_run_id: str) -> Loaded | None:
        """What the ledger says of a stage run's load; None where it was not published."""

    def load(self, load: Load, reach: Callable[[str], None]) -> Loaded:
        """Load, publish and write the ledger; `reach` is told each point that was passed."""

    def clean(self, location: str, stage_run_id: str) -> None:
        """Remove what a load that was not published left behind."""

    def unload(self, location: str, folder: str) -> None:
        """Write a table's rows as Parquet into a folder, for a stage that reads it."""

    def cancel(self) -> bool:
        """End what another thread is doing here; False where that is nothing."""

    def maintain(self, location: str) -> list[str]:
        """Give space back and renew statistics; the statements that did it."""

    def close(self) -> None:
        """Let go of connections."""


@dataclass(eq=False, kw_only=True)
class Fenced(GoldsmithError):
    """A process that slept past its lease tried to publish after another took over."""

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
