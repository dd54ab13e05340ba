"""Failure: a failed attempt at a stage, as remedies see it. Decision: what is done about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

from goldsmith.healing.codes import UNCLASSIFIED, codes


class DecisionKind(StrEnum):
    """What is done about a failure."""

    #: Try the stage again, possibly with retry overrides.
    RERUN = "rerun"
    #: Go on without the stage.
    SKIP = "skip"
    #: Leave it to a person.
    HOLD = "hold"


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A failed attempt at a stage, and what earlier attempts tried."""

    code: str
    message: str = ""
    pipeline_id: str = ""
    stage_order: int = 1
    stage_name: str | None = None
    target_id: str | None = None
    #: The stage's row as in a catalog file, with `read`, `write_mode` and
    #: `schema_policy_in_force` resolved; `read_from` is the dataset the attempt read, and
    #: `other_sources` the datasets from which other lineage edges lead to the target.
    stage: Mapping[str, Any] = field(default_factory=dict)
    #: The names and numbers of the error: the file it is about, the differences …
    facts: Mapping[str, Any] = field(default_factory=dict)
    #: How often the stage has failed in this request, this time included.
    attempt: int = 1
    #: How often the remedy being called was already used in this request for this code.
    uses: int = 0
    #: The retry overrides that this attempt already had.
    adjusted: Mapping[str, Any] = field(default_factory=dict)
    step: str | None = None
    request_id: str | None = None
    run_id: str | None = None
    stage_run_id: str | None = None

    @property
    def stage_id(self) -> str:
        return f"{self.pipeline_id}-{self.stage_order}"

    @property
    def may_pass(self) -> bool:
        """A later attempt may pass without any change."""
        return codes().get(self.code, codes()[UNCLASSIFIED]).may_pass

    def as_plain(self) -> dict[str, Any]:
        """For scripts and webhooks."""
        return {**asdict(self), "stage_id": self.stage_id, "may_pass": self.may_pass}


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What is done about a failure, and the reason."""

    do: DecisionKind
    because: str
    #: Wait this long; None leaves it to the retry policy.
    after: timedelta | None = None
    #: The retry overrides of the next attempt (`goldsmith.engine.apply_overrides`).
    adjust: Mapping[str, Any] = field(default_factory=dict)
    #: Files to quarantine until they are rewritten.
    files_aside: tuple[str, ...] = ()
    #: The dataset that counts as down from now on.
    marks_down: str | None = None


def rerun(because: str, *, after: float | None = None, **adjust: Any) -> Decision:
    """A decision to try again, with these retry overrides."""
    wait = None if after is None else timedelta(seconds=after)
    return Decision(do=DecisionKind.RERUN, because=because, after=wait, adjust=adjust)
