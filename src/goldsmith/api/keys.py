"""Routes of API keys: create, list, revoke."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from goldsmith.api.access import AdminOfAll, OpenRuntime
from goldsmith.api.models import RequestBody
from goldsmith.journal import api_keys
from goldsmith.journal.access_tables import ApiKey, Role

router = APIRouter(prefix="/keys", tags=["keys"])


class NewKey(RequestBody):
    """A key to create."""

    owner: str = Field(min_length=1, max_length=300, examples=["ci@example.com"])
    role: Role
    only: list[str] = Field(default_factory=list, max_length=100, examples=[["tag:finance"]])
    expires_at: datetime | None = None


@router.get("")
def list_keys(
    caller: AdminOfAll, runtime: OpenRuntime, ended: bool = False
) -> list[dict[str, Any]]:
    """The keys, newest first; with `ended` also revoked and expired ones."""
    return [_plain(key) for key in api_keys.listed(runtime.journal, ended=ended)]


@router.post("", status_code=201)
def create_key(caller: AdminOfAll, runtime: OpenRuntime, body: NewKey) -> dict[str, Any]:
    """Create a key. Its secret is in this answer and nowhere else."""
    row, secret = api_keys.create(
        runtime.journal,
        owner=body.owner,
        role=body.role,
        limited_to=body.only,
        expires_at=body.expires_at,
        created_by=caller.owner,
    )
    return {**_plain(row), "secret": secret}


@router.delete("/{key_id}")
def revoke_key(caller: AdminOfAll, runtime: OpenRuntime, key_id: str) -> dict[str, Any]:
    """Revoke a key, at once."""
    return _plain(api_keys.revoke(runtime.journal, key_id, by=caller.owner))


def _plain(key: ApiKey) -> dict[str, Any]:
    return {name: value for name, value in key.as_plain().items() if name != "secret_hash"}
