"""Throttles: how fast a source may be read or a target written."""

from __future__ import annotations

from enum import StrEnum

from goldsmith.catalog.columns import choice, key, number, text
from goldsmith.catalog.rows import Row, table


class ThrottleScope(StrEnum):
    """What a throttle can apply to."""

    SOURCE = "source"
    TARGET = "target"
    #: Several datasets: those under one location, or those whose options name the group.
    GROUP = "group"


@table(
    "throttles",
    purpose="Limits on a measured quantity, per source, target or group.",
    read_by="stages, the throttle gate",
    takes_effect="from the next micro-batch",
)
class Throttle(Row):
    """A limit on how fast a dataset may be used."""

    throttle_id: str = key(doc="The throttle's name.")
    entity_type: str | None = choice(
        default=None, choices=ThrottleScope, doc="source, target or group."
    )
    entity_id: str | None = text(
        default=None,
        doc="The dataset; of a group: a location such as `s3://bucket/`, a type of targets such as "
        "`redshift`, or the value of `throttle_group` in the options of its datasets.",
    )
    metric: str | None = text(
        default=None,
        doc="records_per_minute, records_per_second, GB_per_hour, MB_per_second, "
        "requests_per_minute or concurrent_stages.",
    )
    threshold: float | None = number(default=None, doc="The limit.")
    burst: float | None = number(
        default=None,
        doc="The amount usable at once after a pause; unset: 5 % of a minute's worth.",
    )
    safe_threshold: float | None = number(
        default=None,
        doc="The limit of each process while the catalog is unreachable; unset: a tenth of it.",
    )
