"""Verdicts read back: what each check said, newest first."""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.journal import stored
from goldsmith.journal.definitions import verdicts
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Verdict


def recent(
    journal: Journal,
    *,
    dataset_id: str | None = None,
    check_name: str | None = None,
    failed: bool = False,
    most: int = 20,
) -> list[Verdict]:
    """The newest verdicts, of one dataset or check where one is named."""
    asked = sa.select(verdicts)
    if dataset_id is not None:
        asked = asked.where(verdicts.c.dataset_id == dataset_id)
    if check_name is not None:
        asked = asked.where(verdicts.c.check_name == check_name)
    if failed:
        asked = asked.where(verdicts.c.passed.is_(False))
    newest = asked.order_by(verdicts.c.at.desc(), verdicts.c.stage_run_id, verdicts.c.place)
    with journal.reading() as connection:
        return stored.select(connection, Verdict, newest.limit(most))
