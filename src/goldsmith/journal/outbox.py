"""The outbox: messages wait here until their receiver accepts them, so that none is lost."""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.journal import row_storage
from goldsmith.journal.clock import later, now
from goldsmith.journal.definitions import outbox
from goldsmith.journal.healing_events import NotificationDelayed, NotificationDelivered
from goldsmith.journal.healing_tables import Message, MessageStatus
from goldsmith.journal.journal import Journal

#: The first wait after a receiver refused, and the longest.
_FIRST_SECONDS, _LONGEST_SECONDS = 15.0, 3600.0


def put(message: Message, *, connection: sa.Connection) -> bool:
    """Store a message; False if the same message was stored before."""
    same = sa.select(outbox.c.message_id).where(outbox.c.message_id == message.message_id)
    if connection.execute(same).first() is not None:
        return False
    row_storage.insert(connection, message, written_at=now())
    return True


def take_due(journal: Journal, *, most: int = 50) -> list[Message]:
    """Take the messages that are due, oldest first; each goes to one process at a time.

    A taken message is due again after a wait, so that another process sends it if this one dies.
    """
    query = (
        sa.select(outbox)
        .where(
            outbox.c.status == MessageStatus.WAITING.value,
            sa.or_(outbox.c.not_before.is_(None), outbox.c.not_before <= now()),
        )
        .order_by(outbox.c.written_at)
        .limit(most)
    )
    with journal.writing() as connection:
        taken = row_storage.select(connection, Message, query)
        for message in taken:
            wait = min(_FIRST_SECONDS * 2 ** min(message.attempts, 20), _LONGEST_SECONDS)
            connection.execute(
                sa.update(outbox)
                .where(outbox.c.message_id == message.message_id)
                .values(attempts=message.attempts + 1, not_before=later(wait))
            )
    return taken


def sent(journal: Journal, message: Message) -> None:
    """Record that the receiver accepted a message."""
    with journal.writing() as connection:
        kept = row_storage.update(
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
    """Record that the receiver did not accept a message; it is retried without limit."""
    with journal.writing() as connection:
        kept = row_storage.update(
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
