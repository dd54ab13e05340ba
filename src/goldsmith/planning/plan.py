"""A plan: what would run, in which order, and why each stage will or will not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from goldsmith.planning.integrity.finding import Finding
from goldsmith.planning.neighbourhood import Neighbourhood

if TYPE_CHECKING:
    from goldsmith.journal.runs import Expected


class Fate(StrEnum):
    """What will become of a stage."""

    RUN = "run"
    #: It may run: whether there is anything new has not been looked at.
    READY = "ready"
    SKIP = "skip"
    STOPPED = "stopped"
    BLOCKED = "blocked"


@dataclass(frozen=True, kw_only=True, slots=True)
class News:
    """What is new of one input since the stage last read it."""

    dataset_id: str
    #: `files`, `table` or `warehouse`.
    kind: str
    #: The catalog's address, and what it is in this environment.
    location: str | None
    address: str | None
    #: `new` rows are read, or `all` of them.
    read: str
    files: int | None = None
    bytes: int | None = None
    since: str | None = None
    until: str | None = None
    #: Nothing to read; None where it cannot be known before an upstream stage has run.
    empty: bool | None = None
    sentence: str = ""


class PlannedStage(NamedTuple):
    """One stage of a plan: the rows around it, its fate, and because of what."""

    near: Neighbourhood
    fate: Fate
    because: str
    #: The stages of this plan it comes after.
    after: tuple[str, ...] = ()
    news: tuple[News, ...] = ()
    expected: Expected | None = None

    @property
    def stage_id(self) -> str:
        return self.near.stage_id


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What would run if it were asked for now."""

    revision: int
    environment: str
    made_at: datetime
    selection: tuple[str, ...]
    stages: tuple[PlannedStage, ...]
    findings: tuple[Finding, ...] = ()
    options: Mapping[str, object] = field(default_factory=dict)

    def of(self, *fates: Fate) -> list[PlannedStage]:
        return [stage for stage in self.stages if stage.fate in fates]
