"""Runs on a terminal: the progress goes on, nothing of Java or Python shows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import terminal
from stories.conftest import LOCAL

CATALOG = """
pipelines: [{pipeline_id: orders}]
sources: [{source_id: raw_orders, s3_path: s3://shop/raw/orders/, file_format: jsonl}]
targets:
  - {target_id: bronze_orders, location: s3://shop/bronze/orders/, type: s3}
  - {target_id: silver_orders, location: s3://shop/silver/orders/, type: s3}
  - {target_id: analytics.daily_revenue, location: analytics.daily_revenue, type: redshift}
  - {target_id: broken_orders, location: s3://shop/broken/orders/, type: s3}
validation_rules:
  - rule_set_id: cheap
    severity: warning
    check_def: [{type: row_count, max: 10}]
stages:
  - {pipeline_id: orders, stage_order: 1, source_id: raw_orders, target_id: bronze_orders}
  - pipeline_id: orders
    stage_order: 2
    source_id: bronze_orders
    target_id: silver_orders
    keys: [shop]
    validation_set_id: cheap
    transform_sql: SELECT id % 10 AS shop, id FROM bronze_orders
  - pipeline_id: orders
    stage_order: 3
    source_id: silver_orders
    target_id: analytics.daily_revenue
    transform_sql: SELECT shop, count(*) AS orders FROM silver_orders GROUP BY shop
  - pipeline_id: orders
    stage_order: 4
    source_id: bronze_orders
    target_id: broken_orders
    transform_sql: SELECT id, CAST(amount AS INT) AS amount FROM bronze_orders
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose last stage fails inside a Spark job."""
    folder = tmp_path_factory.mktemp("terminal") / "shop"
    assert terminal.goldsmith("init", str(folder), cwd=folder.parent).code == 0
    for file in (folder / "catalog").glob("*.yaml"):
        file.unlink()
    with (folder / "goldsmith.toml").open("a") as settings:
        settings.write(LOCAL)
    (folder / "orders.yaml").write_text(CATALOG)
    raw = folder / ".goldsmith" / "s3" / "shop" / "raw" / "orders"
    raw.mkdir(parents=True)
    lines = [{"id": number, "amount": "ten" if number == 7 else "1"} for number in range(50)]
    (raw / "one.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    applied = terminal.goldsmith("apply", "orders.yaml", "--yes", cwd=folder)
    assert applied.code == 0, applied.text
    return folder


def test_a_run_on_a_terminal_shows_progress_and_nothing_of_java(project: Path) -> None:
    shown = terminal.goldsmith("run", "orders", cwd=project, columns=50)
    assert shown.code == 1, shown.text
    for unwanted in (
        "Traceback",
        "WARNING",
        "incubator",
        "\tat ",
        "org.apache.spark",
        "Exception in",
    ):
        assert unwanted not in shown.text
    # The line of the first stage went on after Spark had started, until the stage ended.
    steps = re.findall(r"▶ orders-1 → bronze_orders: (\w+)", shown.text)
    assert steps[0] in ("begins", "starting")  # "starting Spark" comes with the next renewal
    assert "starting" in steps
    assert {"read", "write", "publish"} & set(steps)
    assert "✓ orders-1 → bronze_orders: 50 rows read" in shown.text
    numbers = "50 rows produced, 40 left out (older or repeated), 10 published"
    assert f"✓ orders-2 → silver_orders: {numbers}" in shown.text
    assert "! row_count (warning): " in shown.text
    # The failure is said once, in full, whatever the width of the terminal.
    assert shown.text.count("'ten'") == 1

    log = (project / ".goldsmith" / "logs" / "spark.log").read_text()
    assert "\tat " in log
    [run] = json.loads(_piped(project, "runs", "list", "--json"))
    run_log = _piped(project, "runs", "logs", run["run_id"])
    assert "\tat " in run_log
    for arguments in (("status",), ("why", "orders"), ("runs", "show", run["run_id"])):
        assert "row_count" in _piped(project, *arguments), arguments

    # What docs/reading-tables.md says to do is done as it stands there.
    page = (Path(__file__).parents[2] / "docs" / "reading-tables.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    done = "\n".join([*blocks, "print(rows.num_rows, con.sql('FROM silver_orders').fetchall())"])
    assert _python(project, done).startswith("10 [(")


def _piped(project: Path, *arguments: str) -> str:
    return _python(project, "from goldsmith.cli.main import main; main()", *arguments)


def _python(project: Path, code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(
        command, cwd=project, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
