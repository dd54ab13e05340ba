"""Ids of requests, runs and stage runs: they name their kind and sort by start time."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime


def new_id(noun: str, at: datetime | None = None) -> str:
    """`run-20261116-093012-3f9a2c7d`: a new id of a request, a run or a stage run (`try`)."""
    moment = (at or datetime.now(UTC)).astimezone(UTC)
    return f"{noun}-{moment:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
