"""Profiles: which stage runs next. One scoring function, one decision, for service and simulator."""

from __future__ import annotations

from collections.abc import Mapping

from goldsmith.scheduling.values import (
    Decisions,
    ProfileSettings,
    QueuedStage,
    SchedulerState,
    Term,
)


def settings_from_rows(profile: str, rows: Mapping[str, float]) -> ProfileSettings:
    """The settings of a profile: its rows over the defaults of `balanced` or `focus`."""
    raise NotImplementedError


def is_critical(stage: QueuedStage) -> bool:
    """Critical by its own row, or mapped to focus without a criticality of its own."""
    raise NotImplementedError


def score_terms(
    stage: QueuedStage, settings: ProfileSettings, state: SchedulerState, now: float
) -> tuple[Term, ...]:
    """The terms of a stage's score with a sentence each, for `why`; the score is their product."""
    raise NotImplementedError


def score(
    stage: QueuedStage, settings: ProfileSettings, state: SchedulerState, now: float
) -> float:
    """The score that orders the queue, highest first: the product of `score_terms`."""
    raise NotImplementedError


def decide(state: SchedulerState, settings: Mapping[str, ProfileSettings], now: float) -> Decisions:
    """Which stages start now and in which order, which wait and why, which yield.

    `settings` has one entry for each profile in use; a profile without one is balanced.
    """
    raise NotImplementedError
