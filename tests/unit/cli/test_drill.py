"""`goldsmith drill` and `goldsmith paths`: what they print of the example of recovery."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from goldsmith.cli.main import goldsmith
from goldsmith.cli.output import NobodyToAsk

EXAMPLE = Path(__file__).parents[3] / "examples/recovery/catalog.yaml"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    run("init", str(folder))
    run("--project", str(folder), "apply", str(EXAMPLE), "--yes")
    for bucket in ("orders", "orders-copy"):
        file = folder / ".goldsmith/s3" / bucket / "raw/orders/day.jsonl"
        file.parent.mkdir(parents=True)
        file.write_text('{"order_id": 1, "day": "2026-01-01"}\n')
        os.utime(file, (1_700_000_000, 1_700_000_000))
    return folder


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(goldsmith, arguments, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def ask(project: Path, *arguments: str, code: int = 0) -> Any:
    return json.loads(run("--project", str(project), *arguments, "--json", code=code).output)


def test_a_rehearsal_says_what_is_served_and_how(project: Path) -> None:
    found = ask(project, "drill", "--down", "raw_orders")
    assert (found["served"], found["not_served"], found["live"]) == (3, [], False)
    first = found["datasets"][0]
    assert first["path_sequence"] == "raw_orders_alt,bronze_orders"
    assert first["last_data"] == "2023-11-14T22:13:20+00:00"
    text = run("--project", str(project), "drill", "--down", "raw_orders").output
    assert "With raw_orders down: 3 datasets served, 0 not." in text


def test_a_rehearsal_exits_1_if_something_is_not_served(project: Path) -> None:
    downs = ("--down", "raw_orders", "--down", "raw_orders_alt")
    found = ask(project, "drill", *downs, code=1)
    assert found["not_served"] == ["bronze_orders", "silver_orders", "gold_orders"]


def test_a_live_drill_asks_first(project: Path) -> None:
    arguments = ["--project", str(project), "drill", "--down", "raw_orders", "--live"]
    result = CliRunner().invoke(goldsmith, arguments)
    assert isinstance(result.exception, NobodyToAsk)
    assert "Cut raw_orders off for every run of the environment" in str(result.exception)


def test_paths_say_what_is_healthy_now_and_how_old_its_data_is(project: Path) -> None:
    (project / ".goldsmith/s3/orders").rename(project / "gone")
    found = ask(project, "paths", "bronze_orders")
    health = {way["path_sequence"]: way["healthy"] for way in found["paths"]}
    assert health == {"raw_orders,bronze_orders": False, "raw_orders_alt,bronze_orders": True}
    assert found["paths"][1]["stale_sec"] > 1_000_000
    assert "no bucket" in found["declared"][0]["because"]


def test_a_probe_may_ask_for_a_file(project: Path, tmp_path: Path) -> None:
    changed = tmp_path / "probe.yaml"
    row = "source_id: raw_orders, s3_path: 's3://orders/raw/orders/', file_format: jsonl"
    changed.write_text(f"sources: [{{{row}, options: {{probe: _READY}}}}]")
    run("--project", str(project), "apply", str(changed), "--yes")
    assert not ask(project, "paths", "bronze_orders")["paths"][0]["healthy"]
    (project / ".goldsmith/s3/orders/raw/orders/_READY").touch()
    assert ask(project, "paths", "bronze_orders")["paths"][0]["healthy"]
