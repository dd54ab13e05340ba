"""What stories of stops share: a run in a process of its own, and what the rows say of it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import pytest

from plain_sql import PlainSql
from stopping_stages import RELEASE, STOP, facts, in_order
from stories.leftovers import lake_of
from stories.shop import GOLDSMITH, Shop

#: A task hears of a stop between two rows of the first range: 10^10 rows of the others apart.
DEAF = (
    "SELECT order_id, amount, at FROM bronze_orders CROSS JOIN range(100000) AS a "
    "CROSS JOIN range(100000) AS b CROSS JOIN range(100000) AS c "
    "WHERE xxhash64(a.id, b.id, c.id) = 0"
)
SILVER = "SELECT order_id, amount, at FROM bronze_orders"
CORRECTION = "UPDATE stages SET transform_sql = ? WHERE pipeline_id = 'orders' AND stage_order = 2"
FIRST = ((1, 5, "2026-01-01"), (2, 7, "2026-01-02"))
#: What tasks have to have worked since their step began, to be in the midst of it.
WORKED_SECONDS = 1.0


def catalog_of(request: pytest.FixtureRequest) -> str | None:
    """The catalog a test's parameter asks for; None: the project's own SQLite."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return None
    template = request.getfixturevalue("migrated_postgres")
    made: str = request.getfixturevalue("new_database")(template)
    return made


class Run:
    """`goldsmith run` in a process of its own; killed where a test ends before it."""

    def __init__(
        self,
        shop: Shop,
        sql: PlainSql,
        *,
        fault: str | None = None,
        command: Sequence[str] = (str(GOLDSMITH),),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.sql = sql
        pipe = subprocess.PIPE
        extra = {"GOLDSMITH_FAULT": fault} if fault else {}
        self.process = subprocess.Popen(
            [*command, "--project", str(shop.folder), "run", "orders"],
            stdout=pipe,
            stderr=pipe,
            text=True,
            env={**os.environ, **extra, **(environ or {})},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def until(self, holds: Callable[[], object]) -> None:
        """Wait for something that only this run can bring about."""
        while not holds():
            if self.process.poll() is not None:
                raise AssertionError("\n".join(self.process.communicate()))
            time.sleep(0.05)

    def until_it_is_at(self, step: str, stage: int = 2) -> None:
        query = (
            "SELECT count(*) FROM stage_runs "
            "WHERE stage_order = ? AND step = ? AND ended_at IS NULL"
        )
        self.until(lambda: self.sql.value(query, stage, step))

    def until_it_works(
        self, step: str = "write", stage: int = 2, *, jvm: int | None = None
    ) -> None:
        """Come back once tasks are deep in a step; in the JVM of this run, or in that one."""
        self.until_it_is_at(step, stage)
        began = self._worked(jvm)

        def since() -> int:
            return sum(now - began.get(task, 0) for task, now in self._worked(jvm).items())

        self.until(lambda: since() >= WORKED_SECONDS * os.sysconf("SC_CLK_TCK"))

    def _worked(self, jvm: int | None) -> dict[Path, int]:
        """What each thread of tasks has had of the processor; Spark lets idle ones go."""
        listed = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        jvms = [jvm] if jvm else [child for file in listed for child in file.read_text().split()]
        ticks = {}
        for thread in (file for pid in jvms for file in Path(f"/proc/{pid}/task").glob("*/stat")):
            with contextlib.suppress(OSError):  # it has ended since
                name, _, stat = thread.read_text().partition("(")[2].rpartition(")")
                if name.startswith("Executor task"):
                    ticks[thread] = sum(map(int, stat.split()[11:13]))
        return ticks

    def flag(self) -> datetime:
        """Stop the pipeline by plain SQL; a time just before."""
        flagged = datetime.now(UTC)
        self.sql.run(STOP, "pipeline", "orders")
        return flagged

    def end(self) -> int:
        """Wait for its end, and say how it ended."""
        outputs = self.process.communicate(timeout=120)
        assert self.process.returncode is not None, outputs
        return self.process.returncode


def stopped(sql: PlainSql, stage: int, flagged: datetime, *times: str) -> dict[str, Any]:
    """The event of the stage that was stopped, which says just these times."""
    query = "SELECT facts FROM audit_log WHERE kind = 'StageStopped' AND stage_order = ?"
    recorded = facts(sql.value(query, stage))
    in_order(recorded, flagged, *times)
    return recorded


def requests(sql: PlainSql) -> set[str]:
    """How the requests stand, without those that joined another one."""
    joined = "because LIKE 'it joins %'"
    found = sql.run(f"SELECT status FROM requests WHERE because IS NULL OR NOT ({joined})")
    return {row[0] for row in found}


def published(shop: Shop, layer: str) -> int:
    """How many rows of a table in the lake readers see, by an engine that is not Spark."""
    lake, name = lake_of(shop.folder / ".goldsmith"), (layer, f"{layer}_orders")
    return lake.load_table(name).scan().to_arrow().num_rows if lake.table_exists(name) else 0


def release(shop: Shop, sql: PlainSql) -> None:
    """Take the flag away, mend what took so long, and let a worker turn."""
    sql.run(CORRECTION, SILVER)
    sql.run(RELEASE)
    shop.run()
    assert requests(sql) == {"done"}
    assert shop.leftovers() == {}
