"""What a stage needs of the place it writes: write aside, publish at once, say what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

from goldsmith.engine.inputs import RowsOf
from goldsmith.engine.schema import Fitted


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What to write: fitted rows, how, and what to measure on the way."""

    stage_run_id: str
    fitted: Fitted
    mode: str
    keys: tuple[str, ...]
    watermark: str | None
    partition_by: tuple[str, ...]
    options: Mapping[str, Any]
    #: Measures of the checks; observed on the way where Spark can.
    measures: Sequence[Column]
    #: Some measure needs a pass of its own.
    needs_pass: bool
    #: Everything the table held is replaced.
    from_scratch: bool
    #: Files that were rewritten in place: the rows they gave before are replaced.
    replaced_files: tuple[str, ...] = ()
    #: Rows of a window come again: an append takes away the ones that are there.
    replaced_rows: RowsOf | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Aside:
    """What was written aside, and what was measured of it."""

    measured: Mapping[str, Any]
    bytes: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """What readers see since, as the target itself counts."""

    snapshot: str
    rows: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


class Destination(Protocol):
    """The place a stage writes."""

    #: What the lease is held on.
    resource: str

    def schema(self, rows: DataFrame) -> StructType | None:
        """The columns there are, None before the first write."""

    def write_aside(self, order: Order) -> Aside:
        """Write where nobody reads."""

    def publish(self, order: Order, aside: Aside, token: int) -> Published:
        """Make it the newest state, at once or not at all."""

    def published(self, stage_run_id: str) -> Published | None:
        """What a stage run published; None where it did not."""

    def clean(self, stage_run_id: str) -> None:
        """Remove what a stage run left aside."""

    def cancel(self) -> bool:
        """End a statement that is under way elsewhere; False where there is none."""
