"""Scheduling profiles: how pipelines are ordered when not all can run at once."""

from __future__ import annotations

from collections.abc import Mapping

from goldsmith.catalog.columns import flag, key, number, text
from goldsmith.catalog.rows import Row, table

#: The known values of setting_key with their meaning; another value is a finding.
SETTINGS: Mapping[str, str] = {
    "priority_weight_critical": "Weight of critical pipelines in the order.",
    "priority_weight_normal": "Weight of normal pipelines in the order.",
    "priority_weight_noncritical": "Weight of low pipelines in the order.",
    "max_concurrent_tasks": "Stages running at once over all workers.",
    "aging_minutes": "Waiting this long doubles a pipeline's weight, so that nothing starves.",
    "preempt": "1: others yield to critical pipelines; 0: they finish.",
    "preempt_grace_sec": "How long a yielding stage may go on.",
    "noncritical_floor": "Share of the slots others keep while critical pipelines run.",
    "spread_starts": "1: periodic starts are packed apart; 0: they start on the minute.",
    "peak_to_mean": "How uneven the load on one source or target may get.",
    "yield_to_shorter": "1: a long stage yields to a much shorter one (simulator only).",
    "downstream_weight": "How much each request downstream raises the score.",
    "defer_factor": "How many times its estimate delay-tolerant work waits for a lower price.",
    "backfill_weight": "Weight of backfills in the order.",
}


@table(
    "profiles",
    purpose="The scheduling profiles.",
    read_by="scheduler",
)
class Profile(Row):
    """A way to order pipelines."""

    profile_id: str = key(doc="The profile's name: balanced, focus, or one of your own.")
    description: str | None = text(default=None, doc="What it aims for.")
    is_default: bool = flag(default=False, doc="Shipped with Goldsmith.", internal=True)


@table(
    "pipeline_profiles",
    purpose="Which profile a pipeline runs under; no row: balanced.",
    read_by="scheduler",
)
class PipelineProfile(Row):
    """The profile of one pipeline."""

    pipeline_id: str = key(doc="The pipeline.")
    profile_id: str | None = text(default=None, doc="Its profile.")


@table(
    "profile_settings",
    purpose="The settings of a profile, all numbers.",
    read_by="scheduler",
)
class ProfileSetting(Row):
    """One setting of one profile."""

    profile_id: str = key(doc="The profile.")
    setting_key: str = key(doc="One of: " + ", ".join(SETTINGS) + ".")
    setting_value: float | None = number(default=None, doc="Its value.")
    is_default: bool = flag(default=False, doc="Shipped with Goldsmith.", internal=True)
