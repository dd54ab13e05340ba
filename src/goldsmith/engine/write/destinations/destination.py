"""The interface of a stage's target: write staged data, publish it atomically, look it up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

from goldsmith.catalog.write_modes import WRITE_MODES, Replaces
from goldsmith.checks.evaluate import Measured
from goldsmith.checks.parquet_files import ParquetFiles
from goldsmith.engine.pace.targets import LoadPace
from goldsmith.engine.quarantine.row_router import RowRouter
from goldsmith.engine.shape.schema_policy import Fitted
from goldsmith.planning.input_selection import RowWindow

#: Some broken rows of each check, by the check's index.
Samples = Mapping[int, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteRequest:
    """The fitted rows to write, the write mode, and what to measure during the write."""

    stage_run_id: str
    fitted: Fitted
    mode: str
    keys: tuple[str, ...]
    watermark: str | None
    partition_by: tuple[str, ...]
    options: Mapping[str, Any]
    #: Measures the checks during the write and routes each row.
    router: RowRouter
    #: Takes the measures that need a separate pass over the written rows.
    measure_beside: Callable[[DataFrame, ParquetFiles | None], Measured] | None
    #: Writes broken rows, with the marks of key checks, to the quarantine; returns how many.
    keep_broken: Callable[[DataFrame, Mapping[int, Column]], int]
    #: Samples written rows that break a check, given the measures.
    sample_broken_rows: Callable[
        [DataFrame, Mapping[str, Any], Measured, Mapping[int, Column]], Samples
    ]
    #: All rows of the table are replaced.
    from_scratch: bool
    #: Source files that were rewritten: their earlier rows are replaced.
    replaced_files: tuple[str, ...] = ()
    #: The window that is loaded again: an append deletes its existing rows first.
    replaced_rows: RowWindow | None = None
    #: The datasets of the route in place of the default source; None: the default.
    route: str | None = None
    #: UUID of the table to write to; None for whichever table exists.
    table_uuid: str | None = None
    #: How fast staged rows may go into the target; None: no throttle limits it.
    pace: LoadPace | None = None

    @property
    def replaces(self) -> Replaces:
        """Which existing rows the write mode replaces, unless the write is `from_scratch`."""
        return WRITE_MODES.get(self.mode).replaces(self.options)


@dataclass(frozen=True, kw_only=True, slots=True)
class StagedWrite:
    """Counts, measures and samples of staged data."""

    measured: Mapping[str, Any]
    #: Measures from a separate pass, by the index of the check.
    beside: Measured = field(default_factory=dict)
    #: Number of good, quarantined and dropped rows: together all shaped rows.
    good: int = 0
    quarantined: int = 0
    dropped: int = 0
    samples: Samples = field(default_factory=dict)
    bytes: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """The published state, as the target reports it."""

    snapshot: str
    rows: int | None = None
    #: The table's UUID: a table that is created again has another.
    table_uuid: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


class Destination(Protocol):
    """A table that a stage writes."""

    #: The name the lease is held on.
    resource: str

    def schema(self, rows: DataFrame) -> StructType | None:
        """The columns of the table; None before the first write."""

    def write_staged(self, request: WriteRequest) -> StagedWrite:
        """Write the rows to staging, where no reader sees them."""

    def publish(self, request: WriteRequest, staged_write: StagedWrite, token: int) -> Published:
        """Publish the staged data in one atomic step."""

    def published(self, stage_run_id: str) -> Published | None:
        """The state that a stage run published; None if it published nothing."""

    def as_published(self, request: WriteRequest) -> DataFrame:
        """The whole table as it will be after the publish; raises if the target cannot show it."""

    def clean(self, stage_run_id: str) -> None:
        """Remove the staged data of a stage run."""

    def elsewhere(self, table_name: str) -> Destination:
        """The same target in an earlier table, given the table name in the ledger."""

    def cancel(self) -> bool:
        """Cancel the statement that runs in the warehouse; False if none runs."""
