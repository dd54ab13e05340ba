"""The journal's tables about access: API keys, and answers stored by idempotency key."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from goldsmith.catalog.columns import choice, items, key, mapping, moment, text, whole
from goldsmith.catalog.rows import Row, table


class Role(StrEnum):
    """What the owner of a key may do; each role may do all that the roles before it may."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    EDITOR = "editor"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        """Whether this role may do what the other may."""
        roles = list(Role)
        return roles.index(self) >= roles.index(other)


class KeyKind(StrEnum):
    """How a key is used."""

    #: Sent by programs in the header `Authorization`.
    TOKEN = "token"
    #: Exchanged once for a session, by following a link.
    LOGIN = "login"
    #: Sent by a browser in a cookie.
    SESSION = "session"


@table(
    "api_keys",
    purpose="Keys of the API: who may do what, until when. Only a hash of each key is stored.",
    read_by="api",
)
class ApiKey(Row):
    """One key of the API."""

    key_id: str = key(doc="The key's public id, shown in lists and in the history.")
    kind: str = choice(default="token", choices=KeyKind, doc="How the key is used.")
    owner: str | None = text(default=None, doc="The owner; the actor in the history.")
    role: str = choice(default="viewer", choices=Role, doc="What the key may do.")
    limited_to: tuple[str, ...] = items(
        default=None, doc="Selections (`pipeline:ID`, `tag:NAME`) the key is limited to."
    )
    secret_hash: str | None = text(default=None, doc="SHA-256 of the key's secret.")
    created_at: datetime | None = moment(default=None, doc="When it was created.")
    created_by: str | None = text(default=None, doc="Who created it.")
    expires_at: datetime | None = moment(default=None, doc="When it expires; unset: never.")
    last_used_at: datetime | None = moment(default=None, doc="When it was last used.")
    revoked_at: datetime | None = moment(default=None, doc="When it was revoked.")
    revoked_by: str | None = text(default=None, doc="Who revoked it.")


@table(
    "idempotent_answers",
    purpose="The answer to each action that was sent with an idempotency key.",
    read_by="api",
)
class IdempotentAnswer(Row):
    """The answer to one action, given again when the client repeats the request."""

    owner: str = key(doc="Who sent the request.")
    idempotency_key: str = key(doc="The client's key.")
    request_hash: str | None = text(default=None, doc="SHA-256 of method, path and body.")
    status: int | None = whole(default=None, doc="The HTTP status; unset: still being answered.")
    answer: Mapping[str, Any] = mapping(default=None, doc="The body of the answer.")
    at: datetime | None = moment(default=None, doc="When the request arrived.")


OF_ACCESS: tuple[type[Row], ...] = (ApiKey, IdempotentAnswer)
