"""Incidents: opened once for each subject, acknowledged by a person, closed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from goldsmith.errors import GoldsmithError, one_of
from goldsmith.journal import row_storage
from goldsmith.journal.clock import now
from goldsmith.journal.definitions import incidents, outbox
from goldsmith.journal.healing_events import IncidentChanged, IncidentOpened
from goldsmith.journal.healing_tables import Incident, IncidentStatus, MessageStatus
from goldsmith.journal.journal import Journal

_OPEN = (IncidentStatus.OPEN.value, IncidentStatus.ACKNOWLEDGED.value)


@dataclass(eq=False, kw_only=True)
class UnknownIncident(GoldsmithError):
    """There is no incident with that id."""

    incident_id: str
    known: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"There is no incident '{self.incident_id}'."

    @property
    def hint(self) -> str:
        return f"Open: {one_of(self.known)}." if self.known else "No incident is open."


@dataclass(eq=False, kw_only=True)
class IncidentClosed(GoldsmithError):
    """A closed incident cannot be changed."""

    incident_id: str

    def __str__(self) -> str:
        return f"The incident '{self.incident_id}' is closed."

    @property
    def hint(self) -> str:
        return "What happens again opens a new one."


def report(
    journal: Journal, incident: Incident, *, connection: sa.Connection
) -> tuple[Incident, bool]:
    """Open an incident or update the open one of the same subject; True if new or more severe."""
    mine = (incidents.c.about == incident.about) & incidents.c.status.in_(_OPEN)
    there = row_storage.select(connection, Incident, sa.select(incidents).where(mine))
    if not there:
        opened = row_storage.insert(connection, incident, opened_at=now(), last_at=now())
        happened = IncidentOpened(
            pipeline_id=opened.pipeline_id,
            stage_order=opened.stage_order,
            request_id=opened.request_id,
            run_id=opened.run_id,
            incident_id=opened.incident_id,
            severity=str(opened.severity),
            dataset_id=opened.dataset_id,
            error_code=opened.error_code,
            because=opened.cause,
        )
        journal.record(happened, connection=connection)
        return opened, True
    before = there[0]
    worse = str(incident.severity) < str(before.severity)
    changed = row_storage.update(
        connection,
        Incident,
        {"incident_id": before.incident_id},
        severity=min(str(incident.severity), str(before.severity)),
        cause=incident.cause,
        error_code=incident.error_code,
        tried=list(incident.tried),
        affected=list(incident.affected),
        request_id=incident.request_id or before.request_id,
        run_id=incident.run_id or before.run_id,
        times=before.times + (incident.run_id not in (None, before.run_id)),
        last_at=now(),
    )
    assert changed is not None
    if worse:
        because = f"it was {before.severity}"
        journal.record(_changed(changed, because=because), connection=connection)
    return changed, worse


def acknowledge(journal: Journal, incident_id: str, by: str) -> Incident:
    """Record that somebody works on an incident."""
    with journal.writing() as connection:
        incident = _open(connection, incident_id)
        seen = row_storage.update(
            connection,
            Incident,
            {"incident_id": incident.incident_id},
            status=IncidentStatus.ACKNOWLEDGED.value,
            acknowledged_by=by,
            acknowledged_at=now(),
        )
        assert seen is not None
        journal.record(_changed(seen, actor=by), connection=connection)
    return seen


def close(
    journal: Journal,
    incident_id: str,
    by: str,
    because: str,
    *,
    connection: sa.Connection | None = None,
) -> Incident:
    """Close an incident; cancel its messages that were never tried."""
    with journal.writing(connection) as writing:
        incident = _open(writing, incident_id)
        closed = row_storage.update(
            writing,
            Incident,
            {"incident_id": incident.incident_id},
            status=IncidentStatus.CLOSED.value,
            closed_by=by,
            closed_at=now(),
            because=because,
        )
        assert closed is not None
        writing.execute(
            sa.update(outbox)
            .where(
                outbox.c.incident_id == incident.incident_id,
                outbox.c.status == MessageStatus.WAITING.value,
                outbox.c.attempts == 0,
            )
            .values(status=MessageStatus.CANCELLED.value)
        )
        journal.record(_changed(closed, actor=by, because=because), connection=writing)
    return closed


def open_about(about: list[str], *, connection: sa.Connection) -> list[Incident]:
    """The open incidents with these subjects."""
    query = sa.select(incidents).where(incidents.c.about.in_(about), incidents.c.status.in_(_OPEN))
    return row_storage.select(connection, Incident, query)


def listed(journal: Journal, *, closed: bool = False, most: int | None = None) -> list[Incident]:
    """Incidents by severity, then newest first; closed ones only if `closed`."""
    query = sa.select(incidents).order_by(incidents.c.severity, incidents.c.opened_at.desc())
    if not closed:
        query = query.where(incidents.c.status.in_(_OPEN))
    with journal.reading() as connection:
        return row_storage.select(connection, Incident, query.limit(most))


def get(journal: Journal, incident_id: str) -> Incident:
    """One incident by its id."""
    with journal.reading() as connection:
        return _get(connection, incident_id)


def _get(connection: sa.Connection, incident_id: str) -> Incident:
    query = sa.select(incidents).where(incidents.c.incident_id == incident_id)
    found = row_storage.select(connection, Incident, query)
    if not found:
        known = sa.select(incidents.c.incident_id).where(incidents.c.status.in_(_OPEN)).limit(20)
        raise UnknownIncident(
            incident_id=incident_id, known=tuple(connection.execute(known).scalars())
        )
    return found[0]


def _open(connection: sa.Connection, incident_id: str) -> Incident:
    incident = _get(connection, incident_id)
    if incident.status == IncidentStatus.CLOSED:
        raise IncidentClosed(incident_id=incident_id)
    return incident


def _changed(incident: Incident, **more: Any) -> IncidentChanged:
    return IncidentChanged(
        status=incident.status,
        pipeline_id=incident.pipeline_id,
        incident_id=incident.incident_id,
        severity=incident.severity,
        **more,
    )
