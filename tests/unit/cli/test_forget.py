"""`runs forget`: shown first, asked for, done once, and written down."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from goldsmith.catalog.catalog import Catalog
from goldsmith.cli.main import goldsmith
from goldsmith.cli.output import NobodyToAsk
from goldsmith.journal import requests, runs, stage_runs
from goldsmith.journal.events import StageFinished
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Request, Run, StageRun

NOW = datetime.now(UTC)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose stage was published 200, 100 and 10 days ago."""
    folder = tmp_path / "shop"
    made = CliRunner().invoke(goldsmith, ["init", str(folder)])
    assert made.exit_code == 0, made.output
    journal = opened(folder)
    for days in (200, 100, 10):
        at, name = NOW - timedelta(days=days), f"run-{days}"
        requests.put(journal, Request(request_id=f"request-{days}"), at=at)
        requests.cancel(journal, f"request-{days}", at=at)
        runs.start_run(journal, Run(run_id=name, pipeline_id="orders"), at=at)
        tried = StageRun(stage_run_id=f"try-{days}", run_id=name, pipeline_id="orders")
        stage_runs.start_stage_run(journal, tried.with_(stage_order=1), at=at)
        stage_runs.finish_stage_run(journal, tried.stage_run_id, StageFinished(), at=at)
        runs.finish_run(journal, name, at=at)
    journal.engine.dispose()
    return folder


def opened(project: Path) -> Journal:
    return Journal(Catalog.open(f"sqlite:///{project / '.goldsmith' / 'catalog.db'}").engine)


def left(project: Path) -> list[str]:
    journal = opened(project)
    try:
        return [run.run_id for run in runs.recent_runs(journal)]
    finally:
        journal.engine.dispose()


def forget(project: Path, *arguments: str) -> Result:
    return CliRunner().invoke(goldsmith, ["--project", str(project), "runs", "forget", *arguments])


def answer(done: Result) -> dict[str, Any]:
    assert done.exit_code == 0, done.output
    parsed: dict[str, Any] = json.loads(done.stdout)
    return parsed


def test_a_dry_run_shows_what_forgetting_then_does(project: Path) -> None:
    before = (NOW - timedelta(days=90)).isoformat()
    shown = answer(forget(project, "--before", before, "--dry-run", "--json"))
    assert (shown["runs"], shown["stage_runs"], shown["requests"]) == (2, 2, 2)
    assert shown["events"] > 0
    assert shown["done"] is False
    assert left(project) == ["run-10", "run-100", "run-200"]
    assert answer(forget(project, "--before", before, "--yes", "--json")) == shown | {"done": True}
    assert left(project) == ["run-10"]
    again = answer(forget(project, "--before", before, "--yes", "--json"))
    assert (again["runs"], again["events"], again["done"]) == (0, 0, False)
    journal = opened(project)
    forgotten = [event for event in journal.read() if event.kind == "EventsForgotten"]
    journal.engine.dispose()
    assert [(event.facts["runs"], event.actor is not None) for event in forgotten] == [(2, True)]


def test_it_says_so_to_people(project: Path) -> None:
    done = forget(project, "--before", "150d", "--yes")
    assert done.exit_code == 0, done.output
    assert "there are 1 run, 1 stage run, 0 verdicts, 1 request" in done.output
    assert "Forgotten: 1 run," in done.output
    assert left(project) == ["run-10", "run-100"]


def test_nothing_is_forgotten_where_nobody_answers(project: Path) -> None:
    done = forget(project, "--before", "90d")
    assert isinstance(done.exception, NobodyToAsk)
    assert len(left(project)) == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--before"),
        (("--before", "soon"), "no time such as"),
        (("--before", "90"), "no time such as"),
        (("--before", "999999d"), "no time such as"),
        (("--before", "2999-01-01"), "still to come"),
    ],
)
def test_a_time_that_makes_no_sense_is_refused(
    project: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = forget(project, *arguments, "--yes")
    assert done.exit_code == 2
    assert says in done.output
    assert len(left(project)) == 3
