"""A source goes down under a running service: another one serves it, until it is well again."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from servers import s3 as s3_server
from servers.s3 import S3
from stories.service_processes import PATIENCE_SECONDS, active_workers, rows_of, started, until
from stories.shop import SMALL, Shop

EXAMPLE = Path(__file__).parents[2] / "examples/recovery/catalog.yaml"
ALT = "raw_orders_alt,bronze_orders"


@dataclass
class Outage:
    """The example of recovery: raw_orders on an S3 server that can be killed, a copy elsewhere."""

    shop: Shop
    buckets: Path
    port: int = 0
    server: S3 | None = None
    objects: dict[str, bytes] = field(default_factory=dict)
    _running: ExitStack = field(default_factory=ExitStack)

    def start(self) -> None:
        """Start the server, with every object it had."""
        self.server = self._running.enter_context(s3_server.running("orders", port=self.port))
        self.port = int(self.server.endpoint.rpartition(":")[2])
        client = self.server.client()
        for key, body in self.objects.items():
            client.put_object(Bucket="orders", Key=key, Body=body)
        client.close()

    def kill(self) -> None:
        """The server goes away with all it holds."""
        self._running.close()
        self.server = None

    def bring(self, name: str, *orders: tuple[int, str]) -> None:
        """A file of orders arrives at the source, and at its copy."""
        lines = [json.dumps({"order_id": order, "day": day}) for order, day in orders]
        body = ("\n".join(lines) + "\n").encode()
        self.objects[f"raw/orders/{name}.jsonl"] = body
        if self.server is not None:
            client = self.server.client()
            client.put_object(Bucket="orders", Key=f"raw/orders/{name}.jsonl", Body=body)
            client.close()
        copy = self.buckets / "orders-copy/raw/orders"
        copy.mkdir(parents=True, exist_ok=True)
        (copy / f"{name}.jsonl").write_bytes(body)

    def orders(self) -> list[int]:
        return sorted(row["order_id"] for row in self.shop.rows("silver_orders"))

    def gold(self) -> list[tuple[str, int]]:
        import duckdb

        file = self.shop.folder / ".goldsmith/warehouse.duckdb"
        with duckdb.connect(str(file), read_only=True) as connection:
            query = "SELECT CAST(day AS VARCHAR), orders FROM analytics.orders ORDER BY day"
            return connection.execute(query).fetchall()

    def routes(self) -> list[str | None]:
        """The route of each load of bronze_orders, in order; None: the default."""
        query = (
            "SELECT json_extract(facts, '$.route') FROM stage_runs WHERE target_id ="
            " 'bronze_orders' AND status = 'succeeded' ORDER BY started_at"
        )
        return [route for (route,) in rows_of(self.shop, query)]

    def health(self) -> str:
        query = "SELECT status FROM dataset_health WHERE dataset_id = 'raw_orders'"
        return next((status for (status,) in rows_of(self.shop, query)), "healthy")


@pytest.fixture
def outage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outage]:
    monkeypatch.setenv("S3_KEY", s3_server.ACCESS_KEY)
    monkeypatch.setenv("S3_SECRET", s3_server.SECRET_KEY)
    buckets = tmp_path / "buckets"
    made = Outage(Shop(folder=tmp_path / "shop", catalog=""), buckets)
    made.start()
    assert made.server is not None
    toml = (
        f'\n[storage]\nendpoint = "{made.server.endpoint}"\naccess_key = "env:S3_KEY"\n'
        f'secret_key = "env:S3_SECRET"\n[storage.bind]\n"s3://lake/" = "{buckets}/lake"\n'
        f'"s3://orders-copy/" = "{buckets}/orders-copy"\n'
        f'[lake]\nio = "hadoop"\nwarehouse = "{tmp_path}/lake"\n'
        f'[staging]\nfolder = "{tmp_path}/staging"\n'
        "[health]\nwell_for_sec = 3\nprobe_every_sec = 1\n"
    )
    made.shop.goldsmith("init", str(made.shop.folder))
    file = made.shop.folder / "goldsmith.toml"
    file.write_text(file.read_text() + SMALL + toml)
    made.shop.apply(EXAMPLE.read_text())
    yield made
    made.kill()


def test_another_source_serves_while_the_s3_server_is_down(outage: Outage) -> None:
    outage.bring("day-1", (1, "2026-01-01"), (2, "2026-01-01"))
    with started(outage.shop, "serve", "--port", "0", "--probe-port", "0", "--json"):
        until(lambda: active_workers(outage.shop))
        outage.shop.run()
        assert outage.routes() == [None]

        outage.kill()
        outage.bring("day-2", (3, "2026-01-02"))
        outage.shop.run()
        assert outage.routes() == [None, ALT]
        assert outage.orders() == [1, 2, 3]
        assert "raw_orders_alt" in json.dumps(outage.shop.ask("datasets", "show", "bronze_orders"))

        outage.start()
        until(lambda: outage.health() == "healthy")
        outage.bring("day-3", (4, "2026-01-03"))
        outage.shop.run()
        assert outage.routes() == [None, ALT, None]
    assert outage.orders() == [1, 2, 3, 4]
    assert outage.gold() == [("2026-01-01", 2), ("2026-01-02", 1), ("2026-01-03", 1)]
    changes = "SELECT json_extract(facts, '$.health') FROM audit_log WHERE kind = {} ORDER BY 1"
    found = rows_of(outage.shop, changes.format("'DatasetHealthChanged'"))
    assert [health for (health,) in found] == ["down", "healthy"]


@pytest.mark.soak
def test_the_run_waits_while_no_way_is_healthy_and_an_incident_is_opened(outage: Outage) -> None:
    outage.bring("day-1", (1, "2026-01-01"))
    outage.kill()
    copy = outage.buckets / "orders-copy"
    copy.rename(copy.with_name("gone"))
    with started(outage.shop, "serve", "--port", "0", "--probe-port", "0", "--json"):
        until(lambda: active_workers(outage.shop))
        with started(outage.shop, "run", "orders") as run:
            waiting = (
                "SELECT because FROM requests WHERE status = 'waiting' AND because LIKE '%{}%'"
            )
            until(lambda: rows_of(outage.shop, waiting.format("raw_orders_alt is down")))
            opened = "SELECT error_code FROM incidents WHERE status = 'open'"
            assert rows_of(outage.shop, opened) == [("NoHealthyPath",)]
            copy.with_name("gone").rename(copy)
            assert run.wait(PATIENCE_SECONDS) == 0
        assert outage.routes() == [ALT]
        assert outage.orders() == [1]
        assert rows_of(outage.shop, opened) == []


@pytest.mark.soak
@pytest.mark.parametrize("point", ["inputs-noted", "branch-made", "published", "inputs-counted"])
def test_a_re_routed_run_that_was_killed_ends_right_the_next_time(
    outage: Outage, point: str
) -> None:
    outage.bring("day-1", (1, "2026-01-01"), (2, "2026-01-01"))
    outage.shop.run()
    outage.kill()
    outage.bring("day-2", (2, "2026-01-01"), (3, "2026-01-02"))
    assert outage.shop.run(fault=point).returncode == -signal.SIGKILL
    outage.shop.run()
    assert outage.orders() == [1, 2, 3]
    assert outage.gold() == [("2026-01-01", 2), ("2026-01-02", 1)]


@pytest.mark.soak
def test_a_live_drill_cuts_the_source_off_and_lets_it_back(outage: Outage) -> None:
    outage.bring("day-1", (1, "2026-01-01"))
    report = outage.shop.ask("drill", "--down", "raw_orders", "--live", "--yes")
    assert [load["route"] for load in report["loads"]] == [ALT, None, None]
    assert report["loads_after"][0]["status"] == "succeeded"
    assert report["loads_after"][0]["route"] is None
    assert report["differences"] == []
    assert json.loads(Path(report["report"]).read_text())["drill_id"] == report["drill_id"]
    assert rows_of(outage.shop, "SELECT count(*) FROM cut_sources") == [(0,)]
    assert outage.orders() == [1]
