"""A plan: what would run, in which order, and why each stage will or will not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from goldsmith.planning.input_selection import InputSelection
from goldsmith.planning.integrity.finding import Finding
from goldsmith.planning.stage_context import StageContext

if TYPE_CHECKING:
    from goldsmith.catalog.retries import HealingAction, HealingStep
    from goldsmith.journal.runs import Expected


class StageDecision(StrEnum):
    """Whether a stage of a plan runs."""

    RUN = "run"
    #: The stage may run: it is not known yet whether its inputs have anything new.
    READY = "ready"
    SKIP = "skip"
    #: The stage's row is not enabled: the run goes on without the stage.
    LEFT_OUT = "left_out"
    STOPPED = "stopped"
    BLOCKED = "blocked"


class PlannedStage(NamedTuple):
    """One stage of a plan: its context, the decision and its reason."""

    context: StageContext
    fate: StageDecision
    because: str
    #: The stages of this plan whose targets this stage reads.
    after: tuple[str, ...] = ()
    #: What the stage would read and why; None: its inputs were not observed.
    selection: InputSelection | None = None
    expected: Expected | None = None

    @property
    def stage_id(self) -> str:
        return self.context.stage_id


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The stages of a selection in the order they run, each with its decision."""

    revision: int
    environment: str
    made_at: datetime
    selection: tuple[str, ...]
    stages: tuple[PlannedStage, ...]
    findings: tuple[Finding, ...] = ()
    options: Mapping[str, object] = field(default_factory=dict)
    #: The remedies of each error code; `plan --verbose` shows which may act on a stage.
    pairs: tuple[HealingAction | HealingStep, ...] = ()

    def of(self, *fates: StageDecision) -> list[PlannedStage]:
        return [stage for stage in self.stages if stage.fate in fates]
