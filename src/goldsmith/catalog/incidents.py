"""Declared rules of incidents: how severe late data is, and who is notified."""

from __future__ import annotations

from enum import StrEnum

from goldsmith.catalog.columns import choice, flag, key, names, number, text
from goldsmith.catalog.pipelines import Impact
from goldsmith.catalog.rows import Row, table


class RouteKind(StrEnum):
    """How a notification is sent."""

    SLACK = "slack"
    WEBHOOK = "webhook"


@table(
    "severities",
    purpose="How severe an incident is: by the age of the data, and by the pipeline's impact.",
    read_by="incidents",
)
class SeverityLevel(Row):
    """One severity; the first whose age and impact are reached applies."""

    severity: str = key(doc="P1, P2, P3 …, the worst first by name.")
    older_than_hours: float = number(default=0.0, doc="The data is at least this old.", least=0)
    least_impact: str = choice(
        default="none", choices=Impact, doc="The pipeline's impact is at least this."
    )
    description: str | None = text(default=None, doc="What it means.")
    is_default: bool = flag(default=False, doc="Shipped with Goldsmith.", internal=True)


@table(
    "notification_routes",
    purpose="Who is notified of incidents, and how.",
    read_by="incidents",
)
class NotificationRoute(Row):
    """One receiver of notifications about incidents."""

    route_id: str = key(doc="The route's name.")
    kind: str = choice(default="webhook", choices=RouteKind, doc="slack or webhook.")
    url: str | None = text(default=None, doc="The address, or a reference to it (`env:SLACK_URL`).")
    least_severity: str = text(default="P3", doc="Notifies of this severity and worse.")
    pipelines: tuple[str, ...] = names(default=None, doc="Only of these pipelines; unset: of all.")
    enabled: bool = flag(default=True, doc="False: the route is not used.")
