"""`healing`, `incidents` and `datasets freshness`, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.cli.main import goldsmith
from goldsmith.journal import healing, incidents
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables_of_healing import HealingUse, Incident


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one pipeline that failed and was healed once."""
    folder = tmp_path / "shop"
    made = CliRunner().invoke(goldsmith, ["init", str(folder)])
    assert made.exit_code == 0, made.output
    catalog = Catalog.open(f"sqlite:///{folder / '.goldsmith' / 'catalog.db'}")
    rows = [
        Pipeline(pipeline_id="orders", default_retry_id="std_retry", sla_minutes=30),
        Source(source_id="raw", s3_path="s3://raw/orders/", file_format="jsonl"),
        Target(target_id="gold", location="s3://gold/", type="s3"),
        Stage(
            pipeline_id="orders",
            stage_order=1,
            source_id="raw",
            target_id="gold",
            options={"optional": True},
        ),
    ]
    with catalog.change(actor="test") as change:
        change.put(rows)
    journal = Journal(catalog.engine)
    with journal.writing() as connection:
        used = HealingUse(
            use_id="u",
            error_code="CommitConflict",
            remedy="plan_again",
            pipeline_id="orders",
            stage_order=1,
            did="rerun",
            because="somebody else published first",
            outcome="helped",
        )
        healing.use(journal, used, connection=connection)
        incident = Incident(
            incident_id="incident-1",
            severity="P2",
            about="stage:orders-1",
            error_code="DiskFull",
            cause="No room is left",
            runbook="Free some.",
            tried=("spill_less",),
        )
        incidents.report(journal, incident, connection=connection)
    catalog.close()
    return folder


def said(project: Path, *words: str, code: int = 0) -> str:
    done = CliRunner().invoke(goldsmith, ["--project", str(project), *words])
    assert done.exit_code == code, done.output
    return done.output


def ask(project: Path, *words: str) -> Any:
    return json.loads(said(project, *words, "--json"))


def test_pairs_are_listed_with_how_often_they_helped(project: Path) -> None:
    pairs = {(pair["error_code"], pair["remedy"]): pair for pair in ask(project, "healing", "list")}
    assert pairs["CommitConflict", "plan_again"]["success_rate"] == 1.0
    assert pairs["DiskFull", "spill_less"]["success_rate"] is None
    assert "plan_again" in said(project, "healing", "list")


def test_uses_are_told(project: Path) -> None:
    (use,) = ask(project, "healing", "history", "--pipeline", "orders")
    assert (use["remedy"], use["outcome"]) == ("plan_again", "helped")
    assert "somebody else published first" in said(project, "healing", "history")


def test_what_would_be_done_is_told_try_after_try(project: Path) -> None:
    steps = ask(project, "healing", "simulate", "FileTruncated")
    assert [(step["do"], step["remedy"]) for step in steps] == [
        ("rerun", "retry_later"),
        ("rerun", "retry_later"),
        ("rerun", None),
        ("hold", None),
    ]
    skipped = ask(project, "healing", "simulate", "CheckFailed", "--stage", "orders-1")
    assert [step["remedy"] for step in skipped] == ["quarantine_rows", "skip_optional"]
    assert "try 1 fails: rerun" in said(project, "healing", "simulate", "DiskFull")


def test_incidents_are_listed_shown_acknowledged_and_closed(project: Path) -> None:
    assert [one["incident_id"] for one in ask(project, "incidents", "list")] == ["incident-1"]
    assert "tried: spill_less" in said(project, "incidents", "show", "incident-1")
    assert ask(project, "incidents", "ack", "incident-1")["status"] == "acknowledged"
    said(project, "incidents", "close", "incident-1", "--reason", "a larger disk")
    assert ask(project, "incidents", "list") == []
    assert len(ask(project, "incidents", "list", "--all")) == 1


def test_looking_finds_what_is_stale_and_freshness_lists_it(project: Path) -> None:
    (fresh,) = ask(project, "datasets", "freshness")
    assert (fresh["dataset_id"], fresh["last_update"]) == ("gold", None)
    assert ask(project, "datasets", "freshness", "--stale") == []
    assert ask(project, "incidents", "look") == {"incidents": [], "messages": 0}
    assert "never" in said(project, "datasets", "freshness")


def test_errors_are_explained_with_the_remedies_in_force(project: Path) -> None:
    told = ask(project, "errors", "explain", "DiskFull")
    assert [pair["action_script"] for pair in told["remedies"]] == ["spill_less", "open_incident"]
    assert "Remedies: spill_less" in said(project, "errors", "explain", "DiskFull")
    assert ask(project, "errors", "list", "--seen") == []
