"""API keys: create, find by secret, list, revoke. A secret is shown once and stored hashed."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from goldsmith.errors import GoldsmithError
from goldsmith.journal import row_storage
from goldsmith.journal.access_events import KeyCreated, KeyRevoked
from goldsmith.journal.access_tables import ApiKey, KeyKind, Role
from goldsmith.journal.clock import now, read_clock
from goldsmith.journal.definitions import api_keys
from goldsmith.journal.ids import new_id
from goldsmith.journal.journal import Journal

#: `last_used_at` is written at most this often, so that reading does not write.
_NOTE_USE_EVERY = timedelta(minutes=1)
#: The first characters of every secret: scanners of repositories can recognise it.
_PREFIX = "gsk_"


@dataclass(eq=False, kw_only=True)
class UnknownKey(GoldsmithError):
    """There is no API key with that id."""

    key_id: str

    def __str__(self) -> str:
        return f"There is no API key '{self.key_id}'."

    @property
    def hint(self) -> str:
        return "`goldsmith keys list` lists them."


def create(
    journal: Journal,
    *,
    owner: str,
    role: Role,
    created_by: str,
    kind: KeyKind = KeyKind.TOKEN,
    limited_to: Sequence[str] = (),
    expires_at: datetime | None = None,
    connection: sa.Connection | None = None,
) -> tuple[ApiKey, str]:
    """Store a new key; returns its row and its secret, which is not stored."""
    secret = _PREFIX + secrets.token_urlsafe(32)
    row = ApiKey(
        key_id=new_id("key"),
        kind=kind.value,
        owner=owner,
        role=role.value,
        limited_to=tuple(limited_to),
        secret_hash=hash_of(secret),
        created_by=created_by,
        expires_at=expires_at,
    )
    with journal.writing(connection) as writing:
        stored = row_storage.insert(writing, row, created_at=now())
        happened = KeyCreated(
            actor=created_by,
            key_id=stored.key_id,
            key_kind=stored.kind,
            owner=owner,
            role=role.value,
            limited_to=tuple(limited_to),
            expires_at=expires_at,
        )
        journal.record(happened, connection=writing)
    return stored, secret


def find(journal: Journal, secret: str, *, kinds: Sequence[KeyKind]) -> ApiKey | None:
    """The valid key with this secret: of one of these kinds, not expired, not revoked."""
    query = sa.select(api_keys).where(
        api_keys.c.secret_hash == hash_of(secret),
        api_keys.c.kind.in_([kind.value for kind in kinds]),
        api_keys.c.revoked_at.is_(None),
        sa.or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > now()),
    )
    with journal.reading() as connection:
        found = next(iter(row_storage.select(connection, ApiKey, query)), None)
        at = None if found is None else read_clock(connection)
    if found is None or at is None:
        return None
    if found.last_used_at is None or at - found.last_used_at > _NOTE_USE_EVERY:
        with journal.writing(lasts=False) as writing:
            row_storage.update(writing, ApiKey, {"key_id": found.key_id}, last_used_at=now())
    return found


def exchange(
    journal: Journal, secret: str, *, kinds: Sequence[KeyKind], session_for: timedelta
) -> tuple[ApiKey, str] | None:
    """A session for a valid key; a login key is used up by it. None if the key is not valid."""
    found = find(journal, secret, kinds=kinds)
    if found is None:
        return None
    with journal.writing() as writing:
        at = read_clock(writing)
        if found.kind == KeyKind.LOGIN:
            used = row_storage.update(
                writing,
                ApiKey,
                {"key_id": found.key_id, "revoked_at": None},
                revoked_at=now(),
                revoked_by=found.owner,
            )
            if used is None:  # somebody else followed the link first
                return None
        ends = at + session_for
        if found.kind != KeyKind.LOGIN and found.expires_at is not None:
            ends = min(ends, found.expires_at)
        return create(
            journal,
            owner=str(found.owner),
            role=Role(found.role),
            created_by=str(found.owner),
            kind=KeyKind.SESSION,
            limited_to=found.limited_to,
            expires_at=ends,
            connection=writing,
        )


def listed(journal: Journal, *, ended: bool = False) -> list[ApiKey]:
    """The tokens, newest first; revoked and expired ones only if `ended`."""
    query = sa.select(api_keys).where(api_keys.c.kind == KeyKind.TOKEN.value)
    if not ended:
        query = query.where(
            api_keys.c.revoked_at.is_(None),
            sa.or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > now()),
        )
    query = query.order_by(api_keys.c.created_at.desc(), api_keys.c.key_id.desc())
    with journal.reading() as connection:
        return row_storage.select(connection, ApiKey, query)


def revoke(journal: Journal, key_id: str, *, by: str) -> ApiKey:
    """Revoke a key and every session of its owner that it may have opened; at once."""
    with journal.writing() as writing:
        query = sa.select(api_keys).where(api_keys.c.key_id == key_id)
        found = row_storage.select(writing, ApiKey, query)
        if not found:
            raise UnknownKey(key_id=key_id)
        revoked = row_storage.update(
            writing, ApiKey, {"key_id": key_id, "revoked_at": None}, revoked_at=now(), revoked_by=by
        )
        if revoked is None:
            return found[0]
        writing.execute(
            sa.update(api_keys)
            .where(
                api_keys.c.owner == revoked.owner,
                api_keys.c.kind == KeyKind.SESSION.value,
                api_keys.c.revoked_at.is_(None),
            )
            .values(revoked_at=now(), revoked_by=by)
        )
        happened = KeyRevoked(actor=by, key_id=key_id, owner=revoked.owner)
        journal.record(happened, connection=writing)
    return revoked


def are_there_any(journal: Journal) -> bool:
    """Whether any valid token exists."""
    return bool(listed(journal))


def hash_of(secret: str) -> str:
    """The stored form of a secret. Secrets are long and random, so a plain hash is enough."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
