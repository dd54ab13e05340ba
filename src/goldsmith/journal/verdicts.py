"""Read the stored verdicts of checks."""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.journal import row_storage
from goldsmith.journal.definitions import stage_runs, verdicts
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
    """The newest verdicts, of one dataset or check if one is given."""
    query = sa.select(verdicts)
    if dataset_id is not None:
        query = query.where(verdicts.c.dataset_id == dataset_id)
    if check_name is not None:
        query = query.where(verdicts.c.check_name == check_name)
    if failed:
        query = query.where(verdicts.c.passed.is_(False))
    newest = query.order_by(verdicts.c.at.desc(), verdicts.c.stage_run_id, verdicts.c.place)
    with journal.reading() as connection:
        return row_storage.select(connection, Verdict, newest.limit(most))


def of_run(journal: Journal, run_id: str) -> list[Verdict]:
    """Every verdict of a run, in the order of its stages and their checks."""
    tries = sa.select(stage_runs.c.stage_run_id).where(stage_runs.c.run_id == run_id)
    query = sa.select(verdicts).where(verdicts.c.stage_run_id.in_(tries))
    in_order = query.order_by(verdicts.c.stage_order, verdicts.c.at, verdicts.c.place)
    with journal.reading() as connection:
        return row_storage.select(connection, Verdict, in_order)


def warnings_of(journal: Journal, stage_run_id: str) -> list[Verdict]:
    """The failed checks of a stage run, without those of severity info."""
    query = sa.select(verdicts).where(
        verdicts.c.stage_run_id == stage_run_id,
        verdicts.c.passed.is_(False),
        verdicts.c.severity != "info",
    )
    with journal.reading() as connection:
        return row_storage.select(connection, Verdict, query.order_by(verdicts.c.place))
