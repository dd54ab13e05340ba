"""Control flags: what is stopped, by whom, why, until when."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from goldsmith.catalog.columns import flag, key, moment, text
from goldsmith.catalog.rows import Row, table


class FlagScope(StrEnum):
    """What a flag can apply to."""

    EVERYTHING = "everything"
    PIPELINE = "pipeline"
    STAGE = "stage"
    SOURCE = "source"
    TARGET = "target"


@table(
    "control_flags",
    purpose="The kill switch: a row with `enabled` = false stops the named entity at once.",
    read_by="gates, kill switch, planner",
    takes_effect="at once, in running stages too",
)
class Flag(Row):
    """One flag of a pipeline, stage, source, target or everything."""

    entity_type: str = key(
        doc="everything, pipeline, stage, source or target.",
        choices=tuple(scope.value for scope in FlagScope),
    )
    entity_id: str = key(doc="The id; a stage is `pipeline_id-stage_order`, everything is `*`.")
    flag_name: str = key(
        doc="`enabled` is the kill switch; `schedule` pauses a pipeline's schedule; other names "
        "are only stored and shown."
    )
    flag_value: bool = flag(default=False, doc="False stops.")
    updated_at: datetime | None = moment(default=None, doc="When it was last set.", generated=True)
    updated_by: str | None = text(default=None, doc="Who set it.", generated=True)
    reason: str | None = text(default=None, doc="Why, for the people on call.")
    starts_at: datetime | None = moment(default=None, doc="Applies from then on; unset: at once.")
    ends_at: datetime | None = moment(default=None, doc="Applies until then; unset: until changed.")

    def holds(self, now: datetime) -> bool:
        """Whether the flag applies at this time."""
        return (self.starts_at is None or self.starts_at <= now) and (
            self.ends_at is None or now < self.ends_at
        )

    def stops(self, now: datetime) -> bool:
        return self.flag_name == "enabled" and not self.flag_value and self.holds(now)
