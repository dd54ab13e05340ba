"""Backfills: which there are, and how far each of them is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from goldsmith.journal import row_storage
from goldsmith.journal.definitions import requests
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Request
from goldsmith.registry import UnknownName


@dataclass(frozen=True, kw_only=True, slots=True)
class Backfill:
    """One backfill: what it runs, who asked for it, and how many windows have which status."""

    backfill_id: str
    pipelines: tuple[str, ...]
    asked_by: str | None
    asked_at: datetime | None
    windows: int
    counts: dict[str, int]

    def as_plain(self) -> dict[str, Any]:
        return {
            "backfill_id": self.backfill_id,
            "pipelines": list(self.pipelines),
            "asked_by": self.asked_by,
            "asked_at": None if self.asked_at is None else self.asked_at.isoformat(),
            "windows": self.windows,
            **self.counts,
        }


def backfills(journal: Journal) -> list[Backfill]:
    """Every backfill, the newest first."""
    return _read(journal, requests.c.backfill_id.is_not(None))


def backfill(journal: Journal, backfill_id: str) -> Backfill:
    """One backfill by its id."""
    found = _read(journal, requests.c.backfill_id == backfill_id)
    if not found:
        known = tuple(each.backfill_id for each in backfills(journal))
        raise UnknownName(noun="backfill", name=backfill_id, known=known)
    return found[0]


def _read(journal: Journal, chosen: sa.ColumnElement[bool]) -> list[Backfill]:
    columns = (requests.c.backfill_id, requests.c.status)
    counted = sa.select(*columns, sa.func.count()).where(chosen).group_by(*columns)
    newest_first = counted.order_by(requests.c.backfill_id.desc(), requests.c.status)
    # All requests of a backfill are of one order: any of them tells what was asked.
    some = sa.select(sa.func.min(requests.c.request_id)).where(chosen)
    order = sa.select(requests).where(
        requests.c.request_id.in_(some.group_by(requests.c.backfill_id))
    )
    with journal.reading() as connection:
        counts: dict[str, dict[str, int]] = {}
        for backfill_id, status, number in connection.execute(newest_first):
            counts.setdefault(backfill_id, {})[status] = number
        orders = {
            request.backfill_id: request
            for request in row_storage.select(connection, Request, order)
        }
    return [
        Backfill(
            backfill_id=name,
            pipelines=tuple(orders[name].pipelines),
            asked_by=orders[name].asked_by,
            asked_at=orders[name].asked_at,
            windows=sum(mine.values()),
            counts=mine,
        )
        for name, mine in counts.items()
        if name in orders
    ]
