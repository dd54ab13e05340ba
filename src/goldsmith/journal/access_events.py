"""Events about API keys."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from goldsmith.journal.event_base import Event


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyCreated(Event):
    """Somebody created an API key, or signed in."""

    key_id: str
    key_kind: str
    owner: str
    role: str
    limited_to: tuple[str, ...] = ()
    expires_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyRevoked(Event):
    """Somebody revoked an API key."""

    key_id: str
    owner: str | None = None
