"""Failure: a try at a stage that failed, as remedies see it; Decision: what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

from goldsmith.healing.codes import UNCLASSIFIED, codes


class Do(StrEnum):
    """What is done about a failure."""

    #: Try the stage again, perhaps otherwise.
    RERUN = "rerun"
    #: Go on without the stage.
    SKIP = "skip"
    #: Leave it to a person.
    HOLD = "hold"


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """What failed, and what was tried before."""

    code: str
    message: str = ""
    pipeline_id: str = ""
    stage_order: int = 1
    stage_name: str | None = None
    target_id: str | None = None
    #: The stage's row, as files say it, with the words nobody wrote under `words`.
    stage: Mapping[str, Any] = field(default_factory=dict)
    #: The names and numbers of the error: the file it is about, the differences …
    facts: Mapping[str, Any] = field(default_factory=dict)
    #: How often the stage has failed in this request, this time included.
    attempt: int = 1
    #: How often the remedy that is asked was used in this request for this code.
    uses: int = 0
    #: What this attempt did otherwise already.
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
        """The same attempt may pass later by itself."""
        return codes().get(self.code, codes()[UNCLASSIFIED]).may_pass

    def as_plain(self) -> dict[str, Any]:
        """For scripts and webhooks."""
        return {**asdict(self), "stage_id": self.stage_id, "may_pass": self.may_pass}


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What is to be done about a failure, and because of what."""

    do: Do
    because: str
    #: Wait this long; None leaves it to the retry policy.
    after: timedelta | None = None
    #: What the next attempt does otherwise (`goldsmith.engine.adjusting`).
    adjust: Mapping[str, Any] = field(default_factory=dict)
    #: Files that are set aside until somebody writes them anew.
    files_aside: tuple[str, ...] = ()


def rerun(because: str, *, after: float | None = None, **adjust: Any) -> Decision:
    """Try again, with these things otherwise."""
    wait = None if after is None else timedelta(seconds=after)
    return Decision(do=Do.RERUN, because=because, after=wait, adjust=adjust)
