"""A row written by plain SQL stops a stage wherever it is, and a release lets it go on."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from goldsmith.engine.work import Tools
from goldsmith.scheduling import loop
from goldsmith.scheduling.kill_switch import KillSwitch
from spark.engine.conftest import Bench
from spark.engine.test_stages import BRONZE

QUICK = "SELECT id, amount, at FROM bronze_@"
#: Minutes of work in small pieces: hashes shuffled by the hundred million.
LONG = (
    "SELECT id, amount, at FROM bronze_@ WHERE amount < (SELECT count(DISTINCT "
    "sha2(CAST(r.id AS STRING), 256)) FROM range(0, 4000000000, 1, 400) AS r)"
)
SILVER = """
stages:
  - pipeline_id: "@"
    stage_order: 2
    source_id: "bronze_@"
    target_id: "silver_@"
    options: {partial: ok}
"""
GOLD = """
stages:
  - {pipeline_id: "@", stage_order: 3, source_id: "silver_@", target_id: "gold_@"}
targets:
  - {target_id: "gold_@", location: "shop.gold_@", type: redshift}
"""
STOP = (
    "INSERT INTO control_flags (entity_type, entity_id, flag_name, flag_value, reason) "
    "VALUES (?, ?, 'enabled', 0, 'paged at night') ON CONFLICT DO UPDATE SET flag_value = 0"
)


@dataclass
class Stopping:
    """A pipeline that runs in a thread, and the switch that watches it."""

    bench: Bench
    tools: Tools
    holds: Path
    monkeypatch: pytest.MonkeyPatch
    thread: threading.Thread | None = None
    errors: list[BaseException] = field(default_factory=list)

    def begin(self, *, held_at: str | None = None, silver: str = QUICK) -> None:
        """Run the pipeline in a thread; come back once it holds, or once its SQL works."""
        self.bench.apply(BRONZE)
        self.bench.apply(SILVER)
        self.bench.sql(
            "UPDATE stages SET transform_sql = ? WHERE pipeline_id = '@' AND stage_order = 2",
            silver.replace("@", self.bench.tag),
        )
        self.bench.bring("a.jsonl", {"id": 1, "amount": 10}, {"id": 2, "amount": 20})
        if not self.bench.sql("SELECT 1 FROM control_flags WHERE entity_id = '@'"):
            self.bench.run("bronze_@")
        if held_at is not None:
            self.monkeypatch.setenv("GOLDSMITH_FAULT", f"{held_at}:hold={self.holds}")
        loop.ask(self.bench.runtime, [self.bench.tag], {}, "test")
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        if held_at is not None:
            self.until(self.holds.exists)

    def _run(self) -> None:
        try:
            self.bench.turn(self.tools)
        except BaseException as error:
            self.errors.append(error)

    def flag(self, scope: str, entity: str) -> None:
        self.bench.sql(STOP, scope, entity.replace("@", self.bench.tag))

    def let_go(self) -> None:
        """Whoever is held goes on, and the thread comes to its end."""
        self.monkeypatch.delenv("GOLDSMITH_FAULT", raising=False)
        self.holds.unlink(missing_ok=True)
        assert self.thread is not None
        self.thread.join(120)
        assert not self.thread.is_alive()
        assert self.errors == []

    def release(self) -> None:
        self.bench.sql("UPDATE control_flags SET flag_value = 1")
        self.bench.sql(
            "UPDATE stages SET transform_sql = ? WHERE pipeline_id = '@' AND stage_order = 2",
            QUICK.replace("@", self.bench.tag),
        )
        self.bench.turn(self.tools)

    def until(self, holds: Callable[[], object]) -> None:
        assert self.thread is not None
        while not holds():
            assert self.thread.is_alive(), self.errors
            self.thread.join(0.02)

    def step(self) -> str | None:
        found = self.bench.sql(
            "SELECT step FROM stage_runs WHERE pipeline_id = '@' AND stage_order = 2 "
            "AND ended_at IS NULL"
        )
        return found[0][0] if found else None

    def works(self) -> bool:
        """Spark has tasks running for the stage."""
        tracker = self.bench.spark.sparkContext.statusTracker()
        stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
        return self.step() is not None and any(s is not None and s.numActiveTasks for s in stages)

    def stopped(self) -> dict[str, Any]:
        """The last event of a stage that was stopped, with its four times."""
        found = self.bench.sql(
            "SELECT facts FROM audit_log WHERE pipeline_id = '@' AND kind = 'StageStopped' "
            "ORDER BY event_id DESC LIMIT 1"
        )
        facts: dict[str, Any] = json.loads(found[0][0])
        return facts

    def statuses(self) -> list[str]:
        return [
            row[0]
            for row in self.bench.sql(
                "SELECT status FROM stage_runs WHERE pipeline_id = '@' AND stage_order = 2 "
                "ORDER BY started_at"
            )
        ]

    def leases(self) -> list[tuple[Any, ...]]:
        return self.bench.sql("SELECT resource FROM leases WHERE owner IS NOT NULL")

    def silver(self) -> list[tuple[Any, ...]]:
        name = f"lake.silver.silver_{self.bench.tag}"
        if not self.bench.spark.catalog.tableExists(name):
            return []
        return self.bench.rows("silver", "id", "amount")


@pytest.fixture
def stopping(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stopping]:
    switch = KillSwitch(bench.runtime)
    yield Stopping(bench, bench.tools(switch.watching), tmp_path / "hold", monkeypatch)
    switch.close()
    bench.sql("UPDATE control_flags SET flag_value = 1")


@pytest.mark.parametrize(
    ("point", "scope", "entity"),
    [
        ("leased", "stage", "@-2"),
        ("inputs-listed", "everything", "*"),
        ("read", "source", "bronze_@"),
        ("branch-made", "target", "silver_@"),
        ("audited", "stage", "@-2"),
        ("before-publish", "pipeline", "@"),
    ],
)
def test_a_flag_on_anything_stops_a_stage_between_steps(
    stopping: Stopping, point: str, scope: str, entity: str
) -> None:
    stopping.begin(held_at=point)
    stopping.flag(scope, entity)
    stopping.let_go()

    assert stopping.statuses() == ["stopped"]
    assert stopping.silver() == []
    assert stopping.leases() == []
    stopping.release()
    assert stopping.statuses() == ["stopped", "succeeded"]
    assert stopping.silver() == [(1, 10), (2, 20)]


@pytest.mark.parametrize("when", ["before it is asked for", "while it is planned"])
def test_a_flag_set_before_anything_runs_stops_all_of_it(stopping: Stopping, when: str) -> None:
    if when == "before it is asked for":
        stopping.flag("pipeline", "@")
        stopping.begin()
    else:
        stopping.begin(held_at="taken")
        stopping.flag("pipeline", "@")
    stopping.let_go()

    requests = "SELECT status, because FROM requests WHERE selection = '[\"@\"]'"
    assert stopping.bench.sql(requests) == [
        ("stopped", f"pipeline '{stopping.bench.tag}' is switched off (paged at night)")
    ]
    assert stopping.statuses() == []
    stopping.release()
    assert stopping.bench.sql(requests)[0][0] == "done"
    assert stopping.silver() == [(1, 10), (2, 20)]


def test_a_long_shuffle_is_stopped_with_four_times_in_the_audit_log(stopping: Stopping) -> None:
    stopping.begin(silver=LONG)
    stopping.until(stopping.works)
    flagged = datetime.now(UTC)
    stopping.flag("pipeline", "@")
    stopping.let_go()

    facts = stopping.stopped()
    times = [
        datetime.fromisoformat(facts[name])
        for name in ("driver_returned_at", "last_task_ended_at", "nothing_published_at")
    ]
    assert flagged < times[0] <= times[1] <= times[2]
    assert "statement_cancelled_at" not in facts
    assert "zombie_tasks" not in facts
    assert stopping.silver() == []
    stopping.release()
    assert stopping.silver() == [(1, 10), (2, 20)]


def test_a_stage_that_is_switched_off_in_its_row_stops(stopping: Stopping) -> None:
    stopping.begin(held_at="read")
    stopping.bench.sql("UPDATE stages SET enabled = 0 WHERE pipeline_id = '@' AND stage_order = 2")
    stopping.let_go()
    assert stopping.statuses() == ["stopped"]
    stopping.bench.sql("UPDATE stages SET enabled = 1 WHERE pipeline_id = '@'")
    stopping.release()
    assert stopping.silver() == [(1, 10), (2, 20)]


def test_a_flag_during_the_publish_comes_too_late_and_all_of_it_is_there(
    stopping: Stopping,
) -> None:
    stopping.begin(held_at="published")
    stopping.flag("pipeline", "@")
    stopping.let_go()
    assert stopping.statuses() == ["succeeded"]
    assert stopping.silver() == [(1, 10), (2, 20)]


def test_a_flag_set_twice_and_on_something_idle_does_nothing_more(stopping: Stopping) -> None:
    stopping.begin(held_at="read")
    stopping.flag("pipeline", "@")
    stopping.flag("pipeline", "@")
    stopping.flag("pipeline", "nothing_of_this_name")
    stopping.let_go()
    assert stopping.statuses() == ["stopped"]
    stopping.release()
    assert stopping.silver() == [(1, 10), (2, 20)]


def test_a_flag_on_one_pipeline_leaves_another_alone(stopping: Stopping) -> None:
    stopping.begin(held_at="read")
    stopping.flag("pipeline", "somebody_else")
    stopping.let_go()
    assert stopping.statuses() == ["succeeded"]
