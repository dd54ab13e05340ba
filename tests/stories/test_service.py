"""The service as processes: requests, follow-ups, a killed worker. Nothing is new: no Spark."""

from __future__ import annotations

import os
import signal

from stories.service_processes import (
    PATIENCE_SECONDS,
    active_workers,
    rows_of,
    shop,
    started,
    until,
)
from stories.shop import Shop

__all__ = ["shop"]


def test_run_goes_on_itself_when_the_worker_it_follows_is_killed(shop: Shop) -> None:
    with started(shop, "worker", fault="taken") as worker:
        until(lambda: active_workers(shop))
        shop.run()
        assert worker.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    [(status, owner)] = rows_of(shop, "SELECT status, worker FROM requests")
    assert status == "done"
    assert f":{worker.pid}:" not in owner


def test_the_service_runs_requests_and_follow_ups_replaces_a_killed_worker_and_drains(
    shop: Shop,
) -> None:
    with started(shop, "serve", "--port", "0", "--probe-port", "0") as service:
        [(name, pid)] = until(lambda: active_workers(shop))
        assert "orders succeeded" in shop.run().stdout
        fired = "SELECT status FROM requests JOIN schedule_fires USING (request_id)"
        until(lambda: rows_of(shop, fired) == [("done",)])
        assert rows_of(shop, "SELECT DISTINCT worker FROM requests") == [(name,)]

        os.kill(pid, signal.SIGKILL)
        [other] = until(lambda: [row[0] for row in active_workers(shop) if row[0] != name])
        shop.run()
        newest = "SELECT worker FROM requests WHERE asked_by NOT LIKE 'schedule:%'"
        assert rows_of(shop, f"{newest} ORDER BY asked_at DESC LIMIT 1") == [(other,)]

        service.send_signal(signal.SIGTERM)
        assert service.wait(PATIENCE_SECONDS) == 0
        assert "draining" in service.stdout.read()
    assert shop.ask("workers") == []
