"""`runs logs` and `runs retry`, as far as they go without Spark."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from goldsmith.catalog.catalog import Catalog
from goldsmith.cli.main import goldsmith
from goldsmith.journal import runs
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Run
from goldsmith.planning.selection import NothingSelected

CATALOG = """
pipelines: [{pipeline_id: orders}]
stages:
  - {pipeline_id: orders, stage_order: 1, source_id: raw_orders, target_id: bronze_orders}
sources: [{source_id: raw_orders, s3_path: s3://raw/orders/, file_format: jsonl}]
targets: [{target_id: bronze_orders, location: s3://lake/orders/, type: s3}]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one pipeline that ran once."""
    folder = tmp_path / "shop"
    assert CliRunner().invoke(goldsmith, ["init", str(folder)]).exit_code == 0
    (folder / "orders.yaml").write_text(CATALOG)
    applied = invoke(folder, "apply", str(folder / "orders.yaml"), "--yes")
    assert applied.exit_code == 0, applied.output
    journal = Journal(Catalog.open(f"sqlite:///{folder / '.goldsmith' / 'catalog.db'}").engine)
    runs.start_run(journal, Run(run_id="run-1", pipeline_id="orders"))
    runs.finish_run(journal, "run-1")
    journal.engine.dispose()
    return folder


def invoke(project: Path, *arguments: str) -> Result:
    return CliRunner().invoke(goldsmith, ["--project", str(project), *arguments])


def line(says: str, run_id: str = "run-1") -> str:
    facts = {"run_id": run_id}
    fields = {"at": "2026-01-01", "level": "info", "who": "engine", "says": says, "facts": facts}
    return json.dumps(fields, ensure_ascii=False)


def test_logs_of_a_run_are_shown_though_a_process_died_while_it_wrote_one(project: Path) -> None:
    file = project / ".goldsmith" / "logs" / "runs.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    odd = "a line end\u2028of another kind"
    written = [line("first"), line("torn")[:40], "null", line("another's", "run-2"), line(odd)]
    file.write_text("\n".join(written) + "\n", encoding="utf-8")

    shown = invoke(project, "runs", "logs", "run-1", "--json")
    assert shown.exit_code == 0, shown.output
    assert [entry["says"] for entry in json.loads(shown.output)] == ["first", odd]
    assert "engine: first" in invoke(project, "runs", "logs", "run-1").output


def test_a_retry_from_a_stage_that_is_not_there_runs_nothing(project: Path) -> None:
    done = invoke(project, "runs", "retry", "run-1", "--from", "9")
    assert isinstance(done.exception, NothingSelected), done.output


def test_a_dataset_whose_table_is_gone_is_not_called_unwritten(project: Path) -> None:
    assert (
        "Nothing was ever written there."
        in invoke(project, "datasets", "show", "bronze_orders").output
    )
    with sqlite3.connect(project / ".goldsmith" / "catalog.db") as journal:
        journal.execute(
            "INSERT INTO stage_runs (stage_run_id, run_id, pipeline_id, stage_order, target_id,"
            " status, started_at, ended_at) VALUES ('try-1', 'run-1', 'orders', 1,"
            " 'bronze_orders', 'succeeded', '2026-01-01 00:00:00', '2026-01-01 00:01:00')"
        )
    shown = invoke(project, "datasets", "show", "bronze_orders").output
    assert "Nothing is there now" in shown
    assert "last published by try-1" in shown
