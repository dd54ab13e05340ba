"""Accept a push: check the key and the body, store the body, answer with its invocation id.

The answer comes after the row is stored; the service's loop processes the body later.
"""

from __future__ import annotations

import hashlib
import uuid
from datetime import timedelta

import sqlalchemy as sa

from goldsmith.gateway import keys
from goldsmith.gateway.checking import DoorRefusal, checked_body, plain_body
from goldsmith.gateway.store import accepting
from goldsmith.journal import row_storage
from goldsmith.journal.clock import now, read_clock
from goldsmith.journal.definitions import gateway_deliveries
from goldsmith.journal.gateway_tables import Delivery, GatewayKey, KeyScope
from goldsmith.journal.journal import Journal

#: The same body of the same key within this span is the same request: clients send it again.
SAME_WITHIN = timedelta(minutes=10)


def authorized(
    journal: Journal, key_id: str | None, secret: str | None, scope: KeyScope
) -> GatewayKey:
    """The key of a request; refuses with 401 an unknown one, with 403 one of another scope."""
    with journal.reading() as connection:
        key = keys.find(connection, key_id or "", secret or "")
    if key is None:
        raise DoorRefusal(
            401, "The key is unknown, expired or revoked: check x-mcd-id and x-mcd-token."
        )
    if key.scope != scope.value:
        needed = "an Ingestion key" if scope is KeyScope.INGESTION else "a GraphQL key"
        raise DoorRefusal(403, f"The key has the scope {key.scope}; this takes {needed}.")
    return key


def receive(journal: Journal, key: GatewayKey, path: str, raw: bytes, encoding: str | None) -> str:
    """Store a push; returns its invocation id, that of the first if it came before."""

    def authorize(resources: frozenset[str]) -> None:
        foreign = sorted(resources - set(key.resources))
        if key.resources and foreign:
            raise DoorRefusal(
                403,
                f"The key is not authorized for the resource {foreign[0]}.",
                {"resource.uuid": "Not a resource of the key."},
            )

    body = checked_body(path, plain_body(raw, encoding), authorize)
    body_hash = hashlib.sha256(body.text.encode("utf-8")).hexdigest()
    invocation_id = str(uuid.uuid4())
    columns = gateway_deliveries.c
    same = (
        sa.select(columns.invocation_id)
        .where(
            columns.key_id == key.key_id,
            columns.path == path,
            columns.body_hash == body_hash,
        )
        .order_by(columns.received_at.desc())
        .limit(1)
    )
    with accepting(journal) as connection:
        at = read_clock(connection)
        before = connection.execute(
            same.where(columns.received_at > at - SAME_WITHIN)
        ).scalar_one_or_none()
        if before is not None:
            return str(before)
        row = {
            "invocation_id": invocation_id,
            "path": path,
            "key_id": key.key_id,
            "resource_uuid": body.resource_uuid,
            "body_hash": body_hash,
            "slot": int(at.timestamp() // SAME_WITHIN.total_seconds()),
            "body": body.text.replace("\x00", ""),
            "item_count": len(body.events),
            "status": "received",
            "received_at": now(),
        }
        try:
            with connection.begin_nested():
                connection.execute(sa.insert(gateway_deliveries).values(row))
        except sa.exc.IntegrityError:  # the same body came at the same time
            return str(connection.execute(same).scalar_one())
    return invocation_id


def delivery(journal: Journal, invocation_id: str) -> Delivery | None:
    """One received request, with its status."""
    query = sa.select(gateway_deliveries).where(gateway_deliveries.c.invocation_id == invocation_id)
    with journal.reading() as connection:
        return next(iter(row_storage.select(connection, Delivery, query)), None)


def deliveries(journal: Journal, *, most: int) -> list[Delivery]:
    """The newest requests, without their bodies."""
    columns = [column for column in gateway_deliveries.c if column.name != "body"]
    query = sa.select(*columns, sa.null().label("body"))
    query = query.order_by(gateway_deliveries.c.received_at.desc()).limit(most)
    with journal.reading() as connection:
        return row_storage.select(connection, Delivery, query)
