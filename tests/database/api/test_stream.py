"""The stream of events: in order, once, and nothing missed after a reconnect."""

from __future__ import annotations

import asyncio
from pathlib import Path

from goldsmith.api.event_feed import EventFeed
from goldsmith.journal import events
from goldsmith.journal.journal import Journal


def record(journal: Journal, *names: str) -> None:
    journal.record(*(events.RunFinished(run_id=name, pipeline_id="orders") for name in names))


async def collect(feed: EventFeed, after: int, count: int) -> list[str | None]:
    found: list[str | None] = []
    while len(found) < count:
        new = await feed.after(after, timeout=10)
        assert new, "the feed was silent"
        found += [event.run_id for event in new]
        after = new[-1].event_id
    return found


def test_every_listener_gets_each_event_once_in_order(journal: Journal) -> None:
    async def story() -> None:
        feed = EventFeed(journal)
        await feed.start()
        listeners = [asyncio.create_task(collect(feed, feed.newest, 4)) for _ in range(20)]
        await asyncio.to_thread(record, journal, "a", "b")
        await asyncio.to_thread(record, journal, "c")
        await asyncio.to_thread(record, journal, "d")
        assert await asyncio.gather(*listeners) == [["a", "b", "c", "d"]] * 20
        await feed.close()

    asyncio.run(story())


def test_a_listener_that_comes_back_reads_what_it_missed(journal: Journal) -> None:
    record(journal, "a", "b", "c")
    first = journal.read()[0].event_id

    async def story() -> list[str | None]:
        feed = EventFeed(journal)
        await feed.start()  # a new process: nothing is in its memory
        missed = await collect(feed, first, 2)
        await feed.close()
        return missed

    assert asyncio.run(story()) == ["b", "c"]


def test_a_silent_feed_answers_after_the_timeout_and_ends_when_closed(
    journal: Journal, tmp_path: Path
) -> None:
    async def story() -> None:
        feed = EventFeed(journal)
        await feed.start()
        assert await feed.after(feed.newest, timeout=0.01) == []
        waiting = asyncio.create_task(feed.after(feed.newest, timeout=60))
        await asyncio.sleep(0)
        await feed.close()
        assert await waiting == []

    asyncio.run(story())
