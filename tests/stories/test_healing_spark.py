"""Spark that loses its parts under a real worker: each pair ending healed, with the right rows."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from goldsmith.setup import jars
from stories.shop import GOLDSMITH, Shop

pytestmark = pytest.mark.soak

POLICY = """
retry_policies: [{retry_id: soon, max_retries: 3, backoff_sec: 1}]
pipelines: [{pipeline_id: orders, default_retry_id: soon}]
"""
#: A shuffle whose first pieces are there a second before the last.
SHUFFLED = (
    "SELECT order_id, amount, at FROM bronze_orders WHERE amount < (SELECT count(DISTINCT id)"
    " FROM range(0, 400, 1, 4)"
    " WHERE coalesce(reflect('java.lang.Thread', 'sleep', 10L), '') <> 'never')"
)
TOLD = ("StageFailed", "RemedyChosen", "StageHealed", "RemedyDidNotHelp", "IncidentOpened")


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop.make(tmp_path / "shop")
    (made.folder / "policy.yaml").write_text(POLICY)
    apply(made, "policy.yaml")
    made.bring("good", (1, 5, "2026-01-01"))
    return made


def apply(shop: Shop, file: str) -> None:
    shop.goldsmith("--project", str(shop.folder), "apply", str(shop.folder / file), "--yes")


def spark(shop: Shop, conf: str) -> None:
    """Further settings of Spark."""
    toml = shop.folder / "goldsmith.toml"
    toml.write_text(toml.read_text().replace("[spark.conf]\n", f"[spark.conf]\n{conf}\n"))


def story(shop: Shop) -> list[str]:
    """What the audit log tells, in order."""
    file = shop.folder / ".goldsmith" / "catalog.db"
    placeholders = ", ".join("?" * len(TOLD))
    with contextlib.closing(sqlite3.connect(file, timeout=60)) as connection:
        query = f"SELECT kind, error_code, facts FROM audit_log WHERE kind IN ({placeholders})"
        found = connection.execute(f"{query} ORDER BY event_id", TOLD).fetchall()
    return [
        f"{kind} {json.loads(facts or '{}').get('remedy') or code}" for kind, code, facts in found
    ]


def expected_story(code: str, *remedies: str) -> list[str]:
    expected: list[str] = []
    for index, remedy in enumerate(remedies):
        expected.append(f"StageFailed {code}")
        expected += [f"RemedyDidNotHelp {remedies[index - 1]}"] if index else []
        expected.append(f"RemedyChosen {remedy}")
    return [*expected, f"StageHealed {remedies[-1]}"]


@contextlib.contextmanager
def running(shop: Shop, **environ: str) -> Iterator[subprocess.Popen[str]]:
    """`goldsmith run orders`, under way."""
    arguments = [str(GOLDSMITH), "--project", str(shop.folder), "run", "orders"]
    with subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **environ},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen[str], holds: Callable[[], object]) -> None:
    while not holds():
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.02)
            raise AssertionError(process.communicate()[0])


def children(pid: int, text: str) -> list[int]:
    """The processes below one that were started with a word."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text().split()):
                if text in Path(f"/proc/{child}/cmdline").read_text():
                    found.append(child)
                found += children(child, text)
    return found


def test_a_spark_that_is_killed_is_started_anew(shop: Shop, tmp_path: Path) -> None:
    held = tmp_path / "held"
    with running(shop, GOLDSMITH_FAULT=f"shaped:hold={held}") as process:
        until(process, held.exists)
        for java in children(process.pid, "org.apache.spark.deploy.SparkSubmit"):
            os.kill(java, signal.SIGKILL)
        held.unlink()
        # The next attempts are not held.
        while process.poll() is None:
            held.unlink(missing_ok=True)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
        assert process.returncode == 0, process.communicate()[0]

    assert shop.gold() == [(1, 5)]
    assert shop.leftovers() == {}
    assert [line for line in story(shop) if "StageFailed" not in line] == [
        "RemedyChosen new_session",
        "StageHealed new_session",
    ]


def test_a_shuffle_that_is_lost_is_tried_again_and_then_in_smaller_pieces(
    shop: Shop, tmp_path: Path
) -> None:
    local = tmp_path / "local"
    local.mkdir()
    spark(shop, f'"spark.local.dir" = "{local}"')
    catalog = (shop.folder / "shop.yaml").read_text()
    changed = catalog.replace("SELECT order_id, amount, at FROM bronze_orders", SHUFFLED)
    changed = changed.replace("keys: [order_id]", "keys: [order_id]\n    options: {partial: ok}")
    (shop.folder / "shop.yaml").write_text(changed)
    apply(shop, "shop.yaml")
    apply(shop, "policy.yaml")
    remedies = ("retry_later", "retry_later", "more_partitions")

    def lose(process: subprocess.Popen[str]) -> None:
        while process.poll() is None and len(story(shop)) < len(expected_story("X", *remedies)) - 1:
            for file in local.glob("blockmgr-*/*/shuffle_*"):
                if file.suffix in (".data", ".index"):
                    file.unlink(missing_ok=True)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.02)

    with running(shop) as process:
        loser = threading.Thread(target=lose, args=(process,))
        loser.start()
        out = process.communicate()[0]
        loser.join()
        assert process.returncode == 0, out

    assert shop.gold() == [(1, 5)]
    assert story(shop) == expected_story("ShuffleLost", *remedies)


def test_an_executor_that_is_killed_is_done_without(shop: Shop) -> None:
    """Executors are processes of their own: one machine, but a cluster to Spark."""
    toml = shop.folder / "goldsmith.toml"
    toml.write_text(toml.read_text() + '\n[spark]\nmaster = "local-cluster[1,1,1024]"\n')
    paths = os.pathsep.join(str(jar) for jar in jars.paths())
    spark(shop, f'"spark.executor.extraClassPath" = "{paths}"\n"spark.task.maxFailures" = "1"')
    catalog = (shop.folder / "shop.yaml").read_text()
    sleep = "coalesce(reflect('java.lang.Thread', 'sleep', 3000L), '') <> 'never'"
    slowly = f"FROM bronze_orders WHERE {sleep}"
    (shop.folder / "shop.yaml").write_text(catalog.replace("FROM bronze_orders", slowly))
    apply(shop, "shop.yaml")
    apply(shop, "policy.yaml")
    name = "CoarseGrainedExecutorBackend"
    with running(shop) as process:

        def lost() -> bool:
            # An idle one is followed by one that has the task.
            for executor in children(process.pid, name) if _writes_silver(shop) else ():
                if _has_a_task(executor):
                    os.kill(executor, signal.SIGKILL)
            return bool(story(shop))

        until(process, lost)
        out = process.communicate()[0]
        assert process.returncode == 0, out

    assert shop.gold() == [(1, 5)]
    assert story(shop) == expected_story("ExecutorLost", "retry_later")


def _writes_silver(shop: Shop) -> bool:
    file = shop.folder / ".goldsmith" / "catalog.db"
    query = "SELECT 1 FROM stage_runs WHERE stage_order = 2 AND step = 'write' AND ended_at IS NULL"
    with contextlib.closing(sqlite3.connect(file, timeout=60)) as connection:
        return connection.execute(query).fetchone() is not None


def _has_a_task(pid: int) -> bool:
    """A thread of a task is there, at work or just done."""
    names = []
    for task in Path(f"/proc/{pid}/task").glob("*/comm"):
        with contextlib.suppress(OSError):
            names.append(task.read_text())
    return any(name.startswith("Executor task l") for name in names)


def test_a_worker_that_is_killed_is_taken_over_from(shop: Shop) -> None:
    killed = shop.run(fault="written")
    assert killed.returncode == -9, killed.stdout
    shop.run()

    assert shop.gold() == [(1, 5)]
    assert shop.leftovers() == {}
    assert story(shop) == ["RemedyChosen retry_later", "StageHealed retry_later"]
    assert shop.ask("incidents", "list") == []
