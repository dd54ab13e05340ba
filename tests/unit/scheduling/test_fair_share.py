"""How long fair sharing would take, over time."""

from __future__ import annotations

import pytest

from goldsmith.scheduling.fair_share import FairShare


def test_a_request_alone_takes_its_own_time() -> None:
    share = FairShare()
    share.advance(100.0, active=1, slots=4)
    assert share.seconds(100.0, 50.0) == 50.0


def test_a_crowd_stretches_what_it_shares_and_only_while_it_is_there() -> None:
    share = FairShare()
    share.advance(0.0, active=8, slots=4)
    share.advance(60.0, active=2, slots=4)  # thirty seconds of service so far
    assert share.seconds(0.0, 50.0) == pytest.approx(80.0)
    share.advance(200.0, active=100, slots=4)
    assert share.seconds(0.0, 50.0) == pytest.approx(80.0)  # it would have ended before
    assert share.seconds(180.0, 21.0) == pytest.approx(20.0 + 25.0)


def test_before_the_first_look_the_crowd_is_taken_to_have_been_there() -> None:
    share = FairShare()
    share.advance(1000.0, active=8, slots=4)
    assert share.seconds(0.0, 600.0) == pytest.approx(1200.0)
    assert share.seconds(0.0, 100.0) == pytest.approx(200.0)


def test_a_clock_that_goes_back_changes_nothing_that_was() -> None:
    share = FairShare()
    share.advance(100.0, active=1, slots=1)
    share.advance(50.0, active=1, slots=1)
    assert share.seconds(100.0, 10.0) == 10.0


def test_old_points_are_forgotten() -> None:
    share = FairShare()
    for at in range(50_000):
        share.advance(float(at), active=1, slots=1)
    assert share.seconds(49_990.0, 5.0) == pytest.approx(5.0)
