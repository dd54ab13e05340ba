"""What tests of the kill switch share: a pipeline that runs in a thread, and the rows around it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from goldsmith.engine.attempt import WorkerResources
from goldsmith.worker import loop
from spark.engine.conftest import Bench
from spark.engine.test_stages import BRONZE
from stopping_stages import RELEASE, STOP, TIMES, facts, in_order

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
CORRECTION = "UPDATE stages SET transform_sql = ? WHERE pipeline_id = '@' AND stage_order = 2"


@dataclass
class Stopping:
    """A pipeline that runs in a thread, and the switch that watches it."""

    bench: Bench
    resources: WorkerResources
    holds: Path
    monkeypatch: pytest.MonkeyPatch
    thread: threading.Thread | None = None
    errors: list[BaseException] = field(default_factory=list)
    #: Just before the flag was written.
    flagged: datetime | None = None

    def prepare(self) -> None:
        """Rows of bronze and silver, and a file for them."""
        self.bench.apply(BRONZE)
        self.bench.apply(SILVER)
        self.bench.sql(CORRECTION, QUICK.replace("@", self.bench.tag))
        self.bench.bring("a.jsonl", {"id": 1, "amount": 10}, {"id": 2, "amount": 20})

    def begin(
        self, *, held_at: str | None = None, silver: str = QUICK, selection: str = "@"
    ) -> None:
        """Run the pipeline in a thread, its bronze being there; come back at once, or held."""
        if not self.bench.sql("SELECT 1 FROM pipelines WHERE pipeline_id = '@'"):
            self.prepare()
        if not self.bench.sql("SELECT 1 FROM control_flags WHERE entity_id = '@'"):
            self.bench.run("bronze_@")
        self.bench.sql(CORRECTION, silver.replace("@", self.bench.tag))
        if held_at is not None:
            self.monkeypatch.setenv("GOLDSMITH_FAULT", f"{held_at}:hold={self.holds}")
        self.start(selection)
        if held_at is not None:
            self.until(self.holds.exists)

    def start(self, selection: str = "@") -> None:
        """Run the pipeline in a thread, or a part of it."""
        loop.submit_request(
            self.bench.runtime, [selection.replace("@", self.bench.tag)], {}, "test"
        )
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def with_warehouse(self, type_: str, **changes: Any) -> None:
        """Another warehouse for targets of a type."""
        settings = self.bench.runtime.settings
        other = replace(settings.warehouses[type_], **changes)
        settings = replace(settings, warehouses={**settings.warehouses, type_: other})
        self.bench.runtime = replace(self.bench.runtime, settings=settings)
        self.resources = self.bench.resources(self.resources.watched)

    def _run(self) -> None:
        try:
            self.bench.turn(self.resources)
        except BaseException as error:
            self.errors.append(error)

    def flag(self, scope: str, entity: str) -> None:
        self.flagged = datetime.now(UTC)
        self.bench.sql(STOP, scope, entity.replace("@", self.bench.tag))

    def let_go(self) -> None:
        """Whoever is held goes on, and the thread comes to its end."""
        self.monkeypatch.delenv("GOLDSMITH_FAULT", raising=False)
        self.holds.unlink(missing_ok=True)
        assert self.thread is not None
        self.thread.join(120)
        assert not self.thread.is_alive()
        assert self.errors == [], self.errors

    def release(self) -> None:
        self.bench.sql(RELEASE)
        self.bench.sql(CORRECTION, QUICK.replace("@", self.bench.tag))
        self.bench.turn(self.resources)

    def until(self, holds: Callable[[], object]) -> None:
        assert self.thread is not None
        while not holds():
            assert self.thread.is_alive(), self.errors
            self.thread.join(0.02)

    def step(self, stage: int = 2) -> str | None:
        """The step that a try at a stage is at."""
        found = self.bench.sql(
            "SELECT step FROM stage_runs WHERE pipeline_id = '@' AND stage_order = ? "
            "AND ended_at IS NULL",
            stage,
        )
        return found[0][0] if found else None

    def works(self, stage: int = 2) -> bool:
        """A stage is being written, and Spark has tasks running."""
        return self.step(stage) is not None and self.has_tasks()

    def has_tasks(self) -> bool:
        tracker = self.bench.spark.sparkContext.statusTracker()
        stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
        return any(stage is not None and stage.numActiveTasks for stage in stages)

    def stopped(self) -> dict[str, Any]:
        """The last event of a stage that was stopped, with its four times."""
        found = self.bench.sql(
            "SELECT facts FROM audit_log WHERE pipeline_id = '@' AND kind = 'StageStopped' "
            "ORDER BY event_id DESC LIMIT 1"
        )
        return facts(found[0][0])

    def has_times(self, *, begun: bool = True, statement: bool = False) -> None:
        """The last stage that was stopped says when everything of it had ended, in that order.

        Of one that had not begun there were no tasks, and only a warehouse has statements.
        """
        stopped = self.stopped()
        expected = TIMES if begun else (TIMES[0], TIMES[-1])
        assert self.flagged is not None
        in_order(stopped, self.flagged, *["statement_cancelled_at"] * statement, *expected)
        assert "zombie_tasks" not in stopped

    def is_clean(self) -> None:
        """Nothing of the stage that was stopped is left anywhere."""
        assert self.leases() == []
        assert self.bench.leftovers() == []

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
