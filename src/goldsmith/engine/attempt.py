"""One attempt at one stage: its resources, its options and its row counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from goldsmith.engine.cancel_token import CancelToken
from goldsmith.engine.error_codes import CodeOf
from goldsmith.engine.retry_overrides import RetryOverrides
from goldsmith.engine.warehouses.warehouse import Warehouse
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner
from goldsmith.planning.increments import Increments
from goldsmith.planning.run_options import RunOptions
from goldsmith.planning.stage_context import StageContext
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The stage run fact that holds `StageRowCounts.moved_days`.
MOVED_DAYS = "moved_days"


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerResources:
    """The open resources of a worker: Spark, storage, journal, warehouses."""

    spark: Callable[[], SparkSession]
    storage: Storage
    journal: Journal
    increments: Increments
    warehouse: Callable[[str], Warehouse]
    owner: Owner
    #: The schema inferred by an earlier run, by dataset id.
    kept_schema: Callable[[str], str | None]
    #: The error code of an exception.
    code_of: CodeOf
    #: Close Spark and every connection; each is opened again on first use.
    renew: Callable[[], None]
    #: Redacts the secrets that this process knows from a text.
    hide: Callable[[str], str] = str
    #: While the context is open, the kill switch may cancel the attempt.
    watched: Callable[[Attempt], AbstractContextManager[None]] = field(
        default=lambda attempt: nullcontext()
    )
    #: Called between stages and micro-batches: waits while the request yields to another.
    pause: Callable[[Attempt], None] = field(default=lambda attempt: None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One attempt at one stage."""

    context: StageContext
    run_id: str
    stage_run_id: str
    attempt: int
    run_options: RunOptions
    at: datetime
    #: The time that its rows get; later than that of every earlier load of the target.
    loaded_at: datetime | None = None
    #: What this attempt does differently because an earlier one failed.
    adjust: RetryOverrides = field(default_factory=RetryOverrides)
    #: Cancels the attempt: a stop, its time limit, an unreachable catalog.
    cancel: CancelToken = field(default_factory=CancelToken)


@dataclass(frozen=True, kw_only=True, slots=True)
class StageRowCounts:
    """Row counts of one attempt: every row is published, quarantined or dropped."""

    rows: int | None = None
    quarantined: int | None = None
    dropped: int | None = None
    #: Schemas inferred by this attempt, stored if it is published.
    schemas: Mapping[str, str] = field(default_factory=dict)
    #: Days of rows whose time a replay changed: the old and the new days.
    moved_days: tuple[str, ...] = ()

    def as_facts(self) -> dict[str, Any]:
        """Facts recorded before the publish; recovery after a crash reads them."""
        facts: dict[str, Any] = {"schemas": dict(self.schemas)} if self.schemas else {}
        if self.moved_days:
            facts[MOVED_DAYS] = list(self.moved_days)
        return facts | {
            "rows_read": self.rows,
            "rows_quarantined": self.quarantined,
            "rows_dropped": self.dropped,
        }

    @classmethod
    def of_facts(cls, facts: Any) -> StageRowCounts:
        return cls(
            rows=facts.get("rows_read"),
            quarantined=facts.get("rows_quarantined"),
            dropped=facts.get("rows_dropped"),
            schemas=facts.get("schemas", {}),
        )
