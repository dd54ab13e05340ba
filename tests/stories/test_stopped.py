"""Tasks that do not listen end with their JVM, and the run goes on when it is released."""

from __future__ import annotations

import json
import os
import subprocess
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from plain_sql import PlainSql
from stories.shop import GOLDSMITH, Shop

#: A task hears of a stop between two rows of the first range: 10^10 rows of the others apart.
DEAF = (
    "SELECT order_id, amount, at FROM bronze_orders CROSS JOIN range(100000) AS a "
    "CROSS JOIN range(100000) AS b CROSS JOIN range(100000) AS c "
    "WHERE xxhash64(a.id, b.id, c.id) = 0"
)
SILVER = "SELECT order_id, amount, at FROM bronze_orders"
MEND = "UPDATE stages SET transform_sql = ? WHERE pipeline_id = 'orders' AND stage_order = 2"
FLAG = (
    "INSERT INTO control_flags (entity_type, entity_id, flag_name, flag_value) "
    "VALUES ('pipeline', 'orders', 'enabled', false)"
)
#: What the JVM's tasks have to have worked since the write began, to be in the join.
WORKED_SECONDS = 2.0


class Run:
    """`goldsmith run` in a process of its own, and what the rows say of it."""

    def __init__(self, shop: Shop, sql: PlainSql, *, fault: str | None = None) -> None:
        self.sql = sql
        pipe = subprocess.PIPE
        environ = {**os.environ, **({"GOLDSMITH_FAULT": fault} if fault else {})}
        words = [str(GOLDSMITH), "--project", str(shop.folder), "run", "orders"]
        self.process = subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, env=environ)

    def until_it_writes(self) -> None:
        """Come back once silver is being written."""
        asked = (
            "SELECT count(*) FROM stage_runs "
            "WHERE stage_order = 2 AND step = 'write' AND ended_at IS NULL"
        )
        while not self.sql.value(asked):
            self._alive()

    def until_it_computes(self) -> None:
        """Come back once the JVM is deep in the SQL of silver."""
        self.until_it_writes()
        began = self._worked()
        while self._worked() < began + WORKED_SECONDS:
            self._alive()

    def _alive(self) -> None:
        if self.process.poll() is not None:
            raise AssertionError("\n".join(self.process.communicate()))
        time.sleep(0.05)

    def _worked(self) -> float:
        """CPU seconds of the tasks in the JVM that some thread of the run has started."""
        ticks = 0
        for listed in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            for child in listed.read_text().split():
                for thread in Path(f"/proc/{child}/task").glob("*/stat"):
                    name, _, stat = thread.read_text().partition("(")[2].rpartition(")")
                    if name.startswith("Executor task"):
                        ticks += sum(map(int, stat.split()[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def end(self) -> int:
        said = self.process.communicate(timeout=120)
        assert self.process.returncode is not None, said
        return self.process.returncode


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop.make(tmp_path / "shop")
    made.bring("first", (1, 5, "2026-01-01"), (2, 7, "2026-01-02"))
    return made


@pytest.fixture
def sql(shop: Shop) -> PlainSql:
    return PlainSql(f"sqlite:///{shop.folder / '.goldsmith' / 'catalog.db'}")


def _stopped(sql: PlainSql) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(
        sql.value("SELECT facts FROM audit_log WHERE kind = 'StageStopped' AND stage_order = 2")
    )
    return facts


def test_a_cross_join_that_does_not_listen_ends_with_its_jvm(shop: Shop, sql: PlainSql) -> None:
    sql.run(MEND, DEAF)
    run = Run(shop, sql)
    run.until_it_computes()
    said = shop.ask("stop", "pipeline:orders", "--reason", "it eats the cluster", "--yes")
    assert said["running_stages"]
    assert run.end() == 1

    facts = _stopped(sql)
    assert facts["zombie_tasks"] >= 1
    returned, last, nothing = (
        datetime.fromisoformat(facts[name])
        for name in ("driver_returned_at", "last_task_ended_at", "nothing_published_at")
    )
    assert returned <= last <= nothing
    assert shop.litter() == {}
    assert sql.run("SELECT status FROM requests") == [("stopped",)]

    sql.run(MEND, SILVER)
    shop.goldsmith("--project", str(shop.folder), "release", "pipeline:orders")
    shop.run()
    assert shop.gold() == [(2, 12)]
    assert shop.litter() == {}


@pytest.mark.parametrize(
    "point",
    [
        "stopping",
        *(pytest.param(p, marks=pytest.mark.soak) for p in ("stop-cleaned", "stop-recorded")),
    ],
)
def test_a_worker_that_dies_while_it_stops_leaves_the_right_state(
    shop: Shop, sql: PlainSql, point: str
) -> None:
    sql.run(MEND, f"{SILVER} WHERE reflect('java.lang.Thread', 'sleep', 600000L) = 'never'")
    run = Run(shop, sql, fault=point)
    run.until_it_writes()
    sql.run(FLAG)
    assert run.end() == -9

    stopped = shop.run(fault="nowhere")
    assert stopped.returncode == 1, stopped.stdout
    sql.run(MEND, SILVER)
    shop.goldsmith("--project", str(shop.folder), "release", "pipeline:orders")
    shop.run()
    assert shop.gold() == [(2, 12)]
    assert shop.litter() == {}
