"""One try at one stage: what it is given, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from goldsmith.engine.adjust import Adjust
from goldsmith.engine.ending import Ending
from goldsmith.engine.failures import CodeOf
from goldsmith.engine.warehouses.warehouse import Warehouse
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner
from goldsmith.planning.increments import Increments
from goldsmith.planning.neighbourhood import Neighbourhood
from goldsmith.planning.places import Places
from goldsmith.planning.window import Window, moment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, kw_only=True, slots=True)
class Tools:
    """The open parts a stage works with."""

    spark: Callable[[], SparkSession]
    places: Places
    journal: Journal
    increments: Increments
    warehouse: Callable[[str], Warehouse]
    owner: Owner
    #: Schemas that were inferred once, by dataset.
    kept_schema: Callable[[str], str | None]
    keep_schema: Callable[[str, str], None]
    #: The error code of an exception.
    code_of: CodeOf
    #: Let go of Spark and of every connection; what is needed next is opened anew.
    renew: Callable[[], None]
    #: A text without the secrets this process knows.
    hide: Callable[[str], str] = str
    #: While inside, the rows that stop things end this work.
    watched: Callable[[Work], AbstractContextManager[None]] = field(
        default=lambda work: nullcontext()
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Replay:
    """Rows of a quarantine that are to go through their stage again, and how they were mended."""

    #: A SELECT over the view `quarantined`.
    sql: str | None = None
    #: A file of mended rows.
    file: str | None = None
    #: Only rows that this run kept aside.
    run_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """How somebody wants a run to be: everything anew, a few rows to try it out, a window …"""

    full_refresh: bool = False
    limit: int | None = None
    #: Read what is of this window again, and nothing else.
    window: Window | None = None
    #: Make the target what it was after this stage run.
    as_of: str | None = None
    #: Mended rows instead of new input.
    replay: Replay | None = None

    @classmethod
    def of(cls, options: Any) -> Asked:
        since, until, replay = options.get("from"), options.get("to"), options.get("replay")
        return cls(
            full_refresh=bool(options.get("full_refresh", False)),
            limit=options.get("limit"),
            window=None if since is None else Window(start=moment(since), end=moment(until)),
            as_of=options.get("as_of"),
            replay=None if replay is None else Replay(**replay),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """One try at one stage."""

    near: Neighbourhood
    run_id: str
    stage_run_id: str
    attempt: int
    asked: Asked
    at: datetime
    #: What it does otherwise, because an earlier try failed.
    adjust: Adjust = field(default_factory=Adjust)
    #: Ordered when the stage has to end: a stop, its time limit, a catalog that is lost.
    ended: Ending = field(default_factory=Ending)


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """Where the rows of one try went: all of them are published, kept aside or dropped."""

    rows: int | None = None
    quarantined: int | None = None
    dropped: int | None = None

    def as_facts(self) -> dict[str, Any]:
        """Written down before the publish, for whoever completes the record after a crash."""
        return {
            "rows_read": self.rows,
            "rows_quarantined": self.quarantined,
            "rows_dropped": self.dropped,
        }

    @classmethod
    def of_facts(cls, facts: Any) -> Written:
        return cls(
            rows=facts.get("rows_read"),
            quarantined=facts.get("rows_quarantined"),
            dropped=facts.get("rows_dropped"),
        )
