"""Throttles: how fast a source may be read or a target written."""

from __future__ import annotations

from enum import StrEnum

from goldsmith.catalog.columns import choice, key, number, text
from goldsmith.catalog.rows import Row, table

#: The known metrics of a throttle; another value is a finding.
METRICS = ("records_per_minute", "GB_per_hour", "concurrent_stages")


class ThrottleScope(StrEnum):
    """What a throttle can apply to."""

    SOURCE = "source"
    TARGET = "target"


@table(
    "throttles",
    purpose="Limits on a measured quantity, per source or target, shared by every worker.",
    read_by="gates, readers, writers",
    takes_effect="from the next micro-batch",
)
class Throttle(Row):
    """A limit on how fast a dataset may be used."""

    throttle_id: str = key(doc="The throttle's name.")
    entity_type: str | None = choice(default=None, choices=ThrottleScope, doc="source or target.")
    entity_id: str | None = text(default=None, doc="The dataset.")
    metric: str | None = text(default=None, doc=f"{', '.join(METRICS)}.")
    threshold: float | None = number(default=None, doc="The limit.")
    burst: float | None = number(
        default=None, doc="How much may be used at once after a pause; unset: a minute's worth."
    )
    safe_threshold: float | None = number(
        default=None, doc="The limit while the catalog is unreachable; unset: a tenth of it."
    )
