"""Keys of the gateway: of one scope, limited to resources, shown once and stored hashed."""

from __future__ import annotations

import hmac
import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from goldsmith.errors import GoldsmithError
from goldsmith.journal import row_storage
from goldsmith.journal.api_keys import hash_of
from goldsmith.journal.clock import now, read_clock
from goldsmith.journal.definitions import gateway_keys
from goldsmith.journal.gateway_tables import GatewayKey, KeyScope
from goldsmith.journal.journal import Journal


@dataclass(eq=False, kw_only=True)
class UnknownGatewayKey(GoldsmithError):
    """There is no key of the gateway with that id."""

    key_id: str

    def __str__(self) -> str:
        return f"The gateway has no key '{self.key_id}'."

    @property
    def hint(self) -> str:
        return "`goldsmith gateway keys` lists them."


@dataclass(eq=False, kw_only=True)
class BadResource(GoldsmithError):
    """A resource is not a UUID."""

    resource: str

    def __str__(self) -> str:
        return f"'{self.resource}' is not a UUID."

    @property
    def hint(self) -> str:
        return "Give the resource's UUID; a new one: `python -m uuid`."


def resource_uuid(text: str) -> str:
    """The UUID of a resource as it is stored; raises BadResource."""
    try:
        return str(uuid.UUID(text))
    except (ValueError, AttributeError, TypeError):
        raise BadResource(resource=str(text)[:100]) from None


def create(
    journal: Journal,
    scope: KeyScope,
    *,
    description: str,
    created_by: str,
    resources: Sequence[str] = (),
    expires_at: datetime | None = None,
) -> tuple[GatewayKey, str]:
    """Store a new key; returns its row and its secret, which is not stored."""
    secret = secrets.token_urlsafe(42)
    row = GatewayKey(
        key_id=secrets.token_hex(16),
        scope=scope.value,
        description=description,
        resources=tuple(resource_uuid(each) for each in resources),
        secret_hash=hash_of(secret),
        created_by=created_by,
        expires_at=expires_at,
    )
    with journal.writing() as connection:
        return row_storage.insert(connection, row, created_at=now()), secret


_BY_ID = sa.select(gateway_keys).where(gateway_keys.c.key_id == sa.bindparam("id"))


def find(connection: sa.Connection, key_id: str, secret: str) -> GatewayKey | None:
    """The valid key with this id and secret: not expired, not revoked."""
    if not key_id or len(key_id) > 200 or "\x00" in key_id:
        return None
    row = next(iter(row_storage.select(connection, GatewayKey, _BY_ID, {"id": key_id})), None)
    if row is None or not hmac.compare_digest(str(row.secret_hash), hash_of(secret)):
        return None
    at = read_clock(connection)
    ended = row.revoked_at is not None or (row.expires_at is not None and row.expires_at <= at)
    return None if ended else row


def listed(journal: Journal) -> list[GatewayKey]:
    """The keys, newest first."""
    query = sa.select(gateway_keys).order_by(gateway_keys.c.created_at.desc())
    with journal.reading() as connection:
        return row_storage.select(connection, GatewayKey, query)


def revoke(journal: Journal, key_id: str) -> GatewayKey:
    """Revoke a key, at once."""
    with journal.writing() as connection:
        row = row_storage.update(connection, GatewayKey, {"key_id": key_id}, revoked_at=now())
    if row is None:
        raise UnknownGatewayKey(key_id=key_id)
    return row
