"""What a stage needs of the place it writes: write aside, publish at once, say what is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

from goldsmith.checks.evaluate import Measured
from goldsmith.checks.native.stored import Stored
from goldsmith.engine.inputs import RowsOf
from goldsmith.engine.schema import Fitted
from goldsmith.engine.split import Split

#: Some broken rows of each check, by its place.
Samples = Mapping[int, Sequence[Mapping[str, Any]]]


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
    #: What the checks measure on the way, and where it sends each row.
    split: Split
    #: What some checks need beside that, over rows that were written down.
    measure_beside: Callable[[DataFrame, Stored | None], Measured] | None
    #: Keeps broken rows, told with the marks of checks of keys; how many it kept.
    keep_broken: Callable[[DataFrame, Mapping[int, Column]], int]
    #: Looks at some of the written rows that break a check, given what was measured.
    look: Callable[[DataFrame, Mapping[str, Any], Measured, Mapping[int, Column]], Samples]
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
    #: What was measured beside the write, by the place of the check.
    beside: Measured = field(default_factory=dict)
    #: Rows that were good, kept aside and left out; together all that were shaped.
    kept: int = 0
    aside: int = 0
    out: int = 0
    samples: Samples = field(default_factory=dict)
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

    def as_published(self, order: Order) -> DataFrame:
        """The whole table as it would be published; raises where that cannot be said."""

    def clean(self, stage_run_id: str) -> None:
        """Remove what a stage run left aside."""

    def cancel(self) -> bool:
        """End a statement that is under way elsewhere; False where there is none."""
