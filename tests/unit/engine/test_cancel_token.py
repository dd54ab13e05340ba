"""An order to end reaches everybody, whether they asked to hear of it before or after it came."""

from __future__ import annotations

from goldsmith.engine.cancel_token import CancelToken, Stopped

FIRST, SECOND = Stopped(because="a flag"), Stopped(because="another flag")


def test_whoever_waits_for_the_order_is_called_when_it_comes() -> None:
    ended, heard = CancelToken(), list[object]()
    ended.when_ordered(lambda: heard.append(ended.cause))
    assert heard == []
    ended.order(FIRST)
    assert heard == [FIRST]


def test_whoever_comes_after_the_order_is_called_at_once() -> None:
    ended, heard = CancelToken(), list[object]()
    ended.order(FIRST)
    ended.when_ordered(lambda: heard.append(ended.cause))
    assert heard == [FIRST]


def test_a_second_order_is_heard_too_and_changes_nothing() -> None:
    ended, heard = CancelToken(), list[object]()
    ended.when_ordered(lambda: heard.append(ended.cause))
    ended.order(FIRST)
    ended.order(SECOND)
    assert heard == [FIRST, FIRST]
