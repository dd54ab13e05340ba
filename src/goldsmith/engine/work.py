"""One try at one stage: what it is given, and what comes of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from goldsmith.engine.adjusting import Adjust
from goldsmith.engine.failures import CodeOf
from goldsmith.engine.warehouses.warehouse import Warehouse
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner
from goldsmith.planning.increments import Increments
from goldsmith.planning.neighbourhood import Neighbourhood
from goldsmith.planning.places import Places

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """How somebody wants a run to be: everything anew, or a few rows to try it out."""

    full_refresh: bool = False
    limit: int | None = None

    @classmethod
    def of(cls, options: Any) -> Asked:
        return cls(
            full_refresh=bool(options.get("full_refresh", False)),
            limit=options.get("limit"),
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
    #: Set when the stage has to end: a stop, or a lease that was lost.
    ended: threading.Event = field(default_factory=threading.Event)
