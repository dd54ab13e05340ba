"""Schedules besides those of pipelines: maintenance, rule sets; and the price of a slot by hour."""

from __future__ import annotations

from enum import StrEnum

from goldsmith.catalog.columns import ColumnKind, choice, flag, key, number, text, whole
from goldsmith.catalog.rows import Row, table


class MaintenanceTask(StrEnum):
    """What a maintenance schedule does."""

    MAINTAIN = "maintain"
    FORGET = "forget"


@table(
    "maintenance_schedules",
    purpose="When the service maintains datasets and deletes old rows of the journal.",
    read_by="service",
    takes_effect="at the next due time",
)
class MaintenanceSchedule(Row):
    """One task of upkeep that the service does on a schedule."""

    maintenance_id: str = key(doc="The schedule's name.")
    task: str = choice(
        default="maintain",
        choices=MaintenanceTask,
        doc="maintain: as `datasets maintain`; forget: as `runs forget`.",
    )
    dataset_id: str | None = text(
        default=None, doc="The dataset to maintain; unset: every dataset that a stage writes."
    )
    schedule: str | None = text(default=None, doc="A cron line or an interval, as in pipelines.")
    keep_days: int | None = whole(
        default=None, doc="For forget: how many days of events and runs to keep.", least=1
    )
    enabled: bool = flag(default=True, doc="False: the schedule does not fire.")


@table(
    "check_schedules",
    purpose="When a rule set is evaluated on a dataset outside of runs; it only reads.",
    read_by="service",
    takes_effect="at the next due time",
)
class CheckSchedule(Row):
    """One rule set that is evaluated on one dataset on a schedule."""

    rule_set_id: str = key(doc="The rule set.")
    dataset_id: str = key(doc="The dataset it is evaluated on.")
    schedule: str | None = text(default=None, doc="A cron line or an interval, as in pipelines.")
    enabled: bool = flag(default=True, doc="False: the schedule does not fire.")


@table(
    "slot_prices",
    purpose="The price of a slot-second by hour of the day, UTC; no row: 1.",
    read_by="scheduler",
)
class SlotPrice(Row):
    """The price of a slot-second in one hour of the day."""

    hour: int = key(kind=ColumnKind.WHOLE, doc="The hour, 0 to 23, UTC.", least=0, most=23)
    price: float | None = number(default=None, doc="The price.", least=0)
