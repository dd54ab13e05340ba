"""The service on real Spark: workers run requests, follow-ups fire, a killed worker is replaced."""

from __future__ import annotations

import os
import signal
from contextlib import closing

import pytest

from plain_sql import PlainSql
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
    shop.bring("file-0", (1, 10, "2026-01-01"), (2, 5, "2026-01-01"))
    with started(shop, "worker", fault="published") as worker:
        until(lambda: active_workers(shop))
        shop.run()
        assert worker.wait(PATIENCE_SECONDS) == -signal.SIGKILL

    assert sorted(row["order_id"] for row in shop.rows("bronze_orders")) == [1, 2]
    assert shop.gold() == [(2, 15)]
    assert shop.leftovers() == {}


@pytest.mark.soak
def test_the_service_runs_requests_and_follow_ups_replaces_a_killed_worker_and_drains(
    shop: Shop,
) -> None:
    shop.bring("file-0", (1, 10, "2026-01-01"))
    with started(shop, "serve", "--port", "0", "--probe-port", "0", "--json") as service:
        [(name, pid)] = until(lambda: active_workers(shop))
        shop.run()
        taken = "SELECT DISTINCT worker FROM requests WHERE status = 'done'"
        assert rows_of(shop, taken) == [(name,)]
        fired = "SELECT r.status FROM requests r JOIN schedule_fires f USING (request_id)"
        until(lambda: rows_of(shop, fired) == [("done",)])
        assert [row["amount"] for row in shop.rows("order_totals")] == [10]

        shop.bring("file-1", (2, 5, "2026-01-02"))
        with started(shop, "run", "orders") as following:
            running = f"SELECT 1 FROM requests WHERE status = 'running' AND worker = '{name}'"
            until(lambda: rows_of(shop, running))
            os.kill(pid, signal.SIGKILL)
            assert following.wait(PATIENCE_SECONDS) == 0
        until(lambda: [row for row in active_workers(shop) if row[0] != name])
        # The second run of orders has a follow-up, too: a drain would leave it waiting.
        until(lambda: rows_of(shop, fired) == [("done",), ("done",)])

        service.send_signal(signal.SIGTERM)
        assert service.wait(PATIENCE_SECONDS) == 0
    assert shop.ask("workers") == []
    assert sorted(row["order_id"] for row in shop.rows("bronze_orders")) == [1, 2]
    assert shop.gold() == [(2, 15)]
    assert shop.leftovers() == {}


@pytest.mark.soak
def test_workers_maintain_check_forget_and_backfill_as_the_rows_say(shop: Shop) -> None:
    shop.bring("file-0", (1, 10, "2026-01-01"), (2, 5, "2026-01-02"))
    with started(shop, "serve", "--no-api", "--probe-port", "0") as service:
        until(lambda: active_workers(shop))
        shop.run()
        with closing(PlainSql(shop.catalog)) as plain:
            plain.run(
                "INSERT INTO maintenance_schedules (maintenance_id, task, schedule, keep_days)"
                " VALUES ('all', 'maintain', '@daily', NULL), ('old', 'forget', '@daily', 30)"
            )
            plain.run(
                "INSERT INTO check_schedules (rule_set_id, dataset_id, schedule)"
                " VALUES ('row_count_gt0', 'silver_orders', '@daily')"
            )
            seen = "SELECT COUNT(*) FROM schedule_fires WHERE subject NOT LIKE 'pipeline:%'"
            until(lambda: plain.value(seen) == 3)
            plain.run(
                "UPDATE schedule_fires SET due_at = '2026-01-01 00:00:00'"
                " WHERE subject NOT LIKE 'pipeline:%'"
            )
        ended = (
            "SELECT subject, status, r.because FROM schedule_fires f JOIN requests r"
            " USING (request_id) WHERE subject NOT LIKE 'pipeline:%' ORDER BY subject"
        )
        until(lambda: [row[1] for row in rows_of(shop, ended)] == ["done"] * 3)
        assert [row[0] for row in rows_of(shop, ended)] == [
            *("check:row_count_gt0:silver_orders", "maintenance:all", "maintenance:old")
        ]

        span = ("--from", "2026-01-01", "--to", "2026-01-03")
        made = shop.ask("backfill", "orders", *span)
        assert len(made["requests"]) == 2
        windows = f"SELECT status FROM requests WHERE backfill_id = '{made['backfill_id']}'"
        until(lambda: [row[0] for row in rows_of(shop, windows)] == ["done"] * 2)
        service.send_signal(signal.SIGTERM)
        assert service.wait(PATIENCE_SECONDS) == 0
    assert shop.gold() == [(2, 15)]
    assert sorted(row["order_id"] for row in shop.rows("bronze_orders")) == [1, 2]
    assert shop.leftovers() == {}
