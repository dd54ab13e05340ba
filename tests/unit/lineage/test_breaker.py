"""The breaker: one failed probe moves nothing, and a dataset comes back only after a while."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from goldsmith.journal.lineage_tables import DatasetHealth
from goldsmith.lineage.breaker import Breaker, after_probe

START = datetime(2026, 11, 18, tzinfo=UTC)
BREAKER = Breaker(down_after=2, well_for=timedelta(seconds=60))


def probed(*results: tuple[int, str | None]) -> DatasetHealth:
    health = None
    for seconds, problem in results:
        at = START + timedelta(seconds=seconds)
        health = after_probe(health, "raw", problem, at, BREAKER)
    assert health is not None
    return health


def test_one_failed_probe_is_not_yet_down() -> None:
    assert probed((0, "refused")).status == "healthy"
    assert probed((0, "refused"), (1, None), (2, "refused")).status == "healthy"


def test_failed_probes_in_a_row_are_down_with_the_reason() -> None:
    health = probed((0, "refused"), (1, "refused"))
    assert (health.status, health.because) == ("down", "refused")
    assert health.since == START + timedelta(seconds=1)


def test_a_dataset_comes_back_only_after_being_well_for_a_while() -> None:
    down = ((0, "refused"), (1, "refused"))
    assert probed(*down, (2, None), (61, None)).status == "down"
    assert probed(*down, (2, None), (62, None)).status == "healthy"


def test_a_failure_while_coming_back_starts_the_wait_again() -> None:
    health = probed((0, "x"), (1, "x"), (2, None), (50, "x"), (51, None), (100, None))
    assert health.status == "down"
