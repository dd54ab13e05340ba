"""Answers by idempotency key: a client that repeats an action gets the first answer again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from goldsmith.errors import GoldsmithError
from goldsmith.journal import row_storage
from goldsmith.journal.access_tables import IdempotentAnswer
from goldsmith.journal.clock import later, now, read_clock
from goldsmith.journal.definitions import idempotent_answers
from goldsmith.journal.journal import Journal

#: A client may repeat a request for this long.
KEPT_FOR = timedelta(hours=24)
#: An answer that is still missing after this was lost with its process.
_LOST_AFTER = timedelta(minutes=2)


@dataclass(eq=False, kw_only=True)
class KeyUsedForAnother(GoldsmithError):
    """An idempotency key was used for another request."""

    idempotency_key: str

    def __str__(self) -> str:
        return f"The idempotency key '{self.idempotency_key}' was used for another request."

    @property
    def hint(self) -> str:
        return "Use a new key for each action; repeat a key only with the same request."


@dataclass(eq=False, kw_only=True)
class StillAnswering(GoldsmithError):
    """The first request with this idempotency key is still being answered."""

    transient = True
    idempotency_key: str

    def __str__(self) -> str:
        return f"The first request with the key '{self.idempotency_key}' is still being answered."

    @property
    def hint(self) -> str:
        return "Repeat the request in a moment."


def begin(journal: Journal, owner: str, key: str, request_hash: str) -> IdempotentAnswer | None:
    """Claim a key for a request, or return the stored answer to the same request."""
    where = (idempotent_answers.c.owner == owner, idempotent_answers.c.idempotency_key == key)
    with journal.writing() as connection:
        connection.execute(
            sa.delete(idempotent_answers).where(
                idempotent_answers.c.at < later(-KEPT_FOR.total_seconds())
            )
        )
        query = sa.select(idempotent_answers).where(*where)
        found = next(iter(row_storage.select(connection, IdempotentAnswer, query)), None)
        if found is not None:
            if found.request_hash != request_hash:
                raise KeyUsedForAnother(idempotency_key=key)
            if found.status is not None:
                return found
            if found.at is not None and read_clock(connection) - found.at < _LOST_AFTER:
                raise StillAnswering(idempotency_key=key)
            connection.execute(sa.delete(idempotent_answers).where(*where))
        row = IdempotentAnswer(owner=owner, idempotency_key=key, request_hash=request_hash)
        row_storage.insert(connection, row, at=now())
    return None


def finish(
    journal: Journal, owner: str, key: str, *, status: int, answer: Mapping[str, Any]
) -> None:
    """Store the answer to a request."""
    with journal.writing() as connection:
        row_storage.update(
            connection,
            IdempotentAnswer,
            {"owner": owner, "idempotency_key": key},
            status=status,
            answer=dict(answer),
        )


def abandon(journal: Journal, owner: str, key: str) -> None:
    """Free a key whose request was refused: the client may correct it and use the key again."""
    with journal.writing() as connection:
        connection.execute(
            sa.delete(idempotent_answers).where(
                idempotent_answers.c.owner == owner,
                idempotent_answers.c.idempotency_key == key,
                idempotent_answers.c.status.is_(None),
            )
        )
