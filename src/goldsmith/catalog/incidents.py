"""Incidents as they are declared: how severe late data is, and who is told."""

from __future__ import annotations

from enum import StrEnum

from goldsmith.catalog.columns import flag, key, names, number, text, word
from goldsmith.catalog.pipelines import Impact
from goldsmith.catalog.rows import Row, table


class RouteKind(StrEnum):
    """How somebody is told."""

    SLACK = "slack"
    WEBHOOK = "webhook"


@table(
    "severities",
    purpose="How severe an incident is: by the age of the data, and by who notices.",
    read_by="incidents",
)
class SeverityLevel(Row):
    """One severity; the first whose age and impact are reached holds."""

    severity: str = key(doc="P1, P2, P3 …, the worst first by name.")
    older_than_hours: float = number(default=0.0, doc="The data is at least this old.", least=0)
    least_impact: str = word(
        default="none", words=Impact, doc="The pipeline matters to these, or to more."
    )
    description: str | None = text(default=None, doc="What it means.")
    is_default: bool = flag(default=False, doc="Shipped with Goldsmith.", internal=True)


@table(
    "notification_routes",
    purpose="Who is told of incidents, and how.",
    read_by="incidents",
)
class NotificationRoute(Row):
    """One way incidents reach people."""

    route_id: str = key(doc="The route's name.")
    kind: str = word(default="webhook", words=RouteKind, doc="slack or webhook.")
    url: str | None = text(
        default=None, doc="Where to: an address, or where it is kept (`env:SLACK_URL`)."
    )
    least_severity: str = text(default="P3", doc="Told of this severity and of worse ones.")
    pipelines: tuple[str, ...] = names(default=None, doc="Only of these; unset: of all.")
    enabled: bool = flag(default=True, doc="False: nobody is told by it.")
