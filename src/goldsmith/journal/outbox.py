"""The outbox: messages wait here until their receiver took them, so that none is lost."""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.journal import stored
from goldsmith.journal.clock import later, now
from goldsmith.journal.definitions import outbox
from goldsmith.journal.events_of_healing import NotificationDelayed, NotificationDelivered
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables_of_healing import Message, MessageStatus

#: The first wait after a receiver refused, and the longest.
_FIRST_SECONDS, _LONGEST_SECONDS = 15.0, 3600.0


def put(message: Message, *, connection: sa.Connection) -> bool:
    """Write a message down; the same one twice is not sent twice."""
    same = sa.select(outbox.c.message_id).where(outbox.c.message_id == message.message_id)
    if connection.execute(same).first() is not None:
        return False
    stored.insert(connection, message, written_at=now())
    return True


def take_due(journal: Journal, *, most: int = 50) -> list[Message]:
    """Messages whose time has come, the oldest first, each for one process at a time.

    One that is taken is due again after a wait: a process that dies leaves it to the next.
    """
    asked = (
        sa.select(outbox)
        .where(
            outbox.c.status == MessageStatus.WAITING.value,
            sa.or_(outbox.c.not_before.is_(None), outbox.c.not_before <= now()),
        )
        .order_by(outbox.c.written_at)
        .limit(most)
    )
    with journal.writing() as connection:
        taken = stored.select(connection, Message, asked)
        for message in taken:
            wait = min(_FIRST_SECONDS * 2 ** min(message.attempts, 20), _LONGEST_SECONDS)
            connection.execute(
                sa.update(outbox)
                .where(outbox.c.message_id == message.message_id)
                .values(attempts=message.attempts + 1, not_before=later(wait))
            )
    return taken


def sent(journal: Journal, message: Message) -> None:
    """The receiver took it."""
    with journal.writing() as connection:
        kept = stored.update(
            connection,
            Message,
            {"message_id": message.message_id},
            status=MessageStatus.SENT.value,
            sent_at=now(),
            last_error=None,
        )
        assert kept is not None
        journal.record(
            NotificationDelivered(
                incident_id=str(kept.incident_id),
                route_id=str(kept.route_id),
                attempts=kept.attempts,
            ),
            connection=connection,
        )


def refused(journal: Journal, message: Message, because: str) -> None:
    """The receiver did not take it: it is tried again, however long that goes on."""
    with journal.writing() as connection:
        kept = stored.update(
            connection, Message, {"message_id": message.message_id}, last_error=because
        )
        assert kept is not None
        journal.record(
            NotificationDelayed(
                incident_id=str(kept.incident_id),
                route_id=str(kept.route_id),
                attempts=kept.attempts,
                not_before=kept.not_before,
                because=because,
            ),
            connection=connection,
        )
