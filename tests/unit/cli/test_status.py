"""`status`: one screen, at once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.errors import (
    CatalogDamaged,
    CatalogTooNew,
    CatalogTooOld,
    CatalogUnreachable,
)
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline
from goldsmith.cli.main import goldsmith
from goldsmith.cli.times import ago, span
from goldsmith.journal import requests, runs, stage_runs
from goldsmith.journal.events import RunFailed
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner
from goldsmith.journal.status_screen import status_screen
from goldsmith.journal.tables import Request, Run, StageRun

FAR = datetime(2999, 1, 1, 12, tzinfo=UTC)
DEAD = Owner(host=Owner.this_process().host, pid=Owner.this_process().pid, start="1")


@pytest.fixture
def in_use(catalog: Catalog, journal: Journal) -> None:
    """A catalog in which something runs, waits, failed and is stopped."""
    with catalog.change(actor="ann") as change:
        change.put(Pipeline(pipeline_id=name) for name in ("orders", "users", "clicks", "idle"))
    with catalog.change(actor="bob", reason="the vendor is down") as change:
        change.put(
            [Flag(entity_type="pipeline", entity_id="clicks", flag_name="enabled", ends_at=FAR)]
        )
    runs.start_run(journal, Run(run_id="run-1", pipeline_id="orders", asked_by="ann"))
    tried = StageRun(
        stage_run_id="try-1", run_id="run-1", pipeline_id="orders", stage_order=1, stage_name="load"
    )
    stage_runs.start_stage_run(journal, tried)
    stage_runs.step(journal, "try-1", "shape")
    requests.put(journal, Request(request_id="request-1", selection=("users", "idle")))
    requests.wait(journal, "request-1", "3 of 3 slots are taken", not_before=FAR)
    runs.start_run(journal, Run(run_id="run-2", pipeline_id="users"))
    failed = RunFailed(error_code="DiskFull", error_message="No room is left.")
    runs.finish_run(journal, "run-2", failed)


@pytest.fixture
def project(catalog_url: str, tmp_path: Path) -> Path:
    """A project whose catalog this is."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "goldsmith.toml").write_text(f'[catalog]\nurl = "{catalog_url}"\n')
    return folder


def invoke(project: Path, *arguments: str) -> Any:
    return CliRunner().invoke(goldsmith, ["--project", str(project), *arguments])


def test_nothing_happens_in_a_fresh_catalog(catalog_url: str) -> None:
    now = status_screen(catalog_url)
    assert {name: part.count for name, part in now.parts.items()} == {
        "running": 0,
        "waiting": 0,
        "failed": 0,
        "stopped": 0,
        "warned": 0,
    }
    assert now.pipelines.total == 0


@pytest.mark.usefixtures("in_use")
def test_everything_that_matters_is_seen_at_a_glance(catalog_url: str) -> None:
    now = status_screen(catalog_url)
    [running] = now.parts["running"].newest
    assert (running.subject, running.because, running.who) == (
        "pipeline:orders",
        "load: shape",
        "ann",
    )
    [waiting] = now.parts["waiting"].newest
    assert (waiting.subject, waiting.because) == ("users, idle", "3 of 3 slots are taken")
    assert waiting.until == FAR
    [failed] = now.parts["failed"].newest
    assert (failed.subject, failed.because) == ("pipeline:users", "DiskFull: No room is left.")
    [stopped] = now.parts["stopped"].newest
    assert (stopped.subject, stopped.who, stopped.because, stopped.until) == (
        "pipeline:clicks",
        "bob",
        "the vendor is down",
        FAR,
    )
    counted = now.pipelines
    assert (counted.total, counted.stopped, counted.running, counted.never_ran) == (4, 1, 1, 2)


@pytest.mark.usefixtures("in_use")
def test_more_than_fits_is_counted(catalog_url: str, journal: Journal) -> None:
    for number in range(3):
        run = Run(run_id=f"more-{number}", pipeline_id=f"more-{number}")
        runs.start_run(journal, run)
    part = status_screen(catalog_url, most=2).parts["running"]
    assert (part.count, len(part.newest)) == (4, 2)


def test_a_run_whose_process_is_gone_is_called_so(catalog_url: str, journal: Journal) -> None:
    runs.start_run(journal, Run(run_id="run-1", pipeline_id="orders", worker=str(DEAD)))
    [running] = status_screen(catalog_url).parts["running"].newest
    assert running.abandoned


@pytest.mark.usefixtures("in_use")
def test_the_command_says_it_in_words(project: Path) -> None:
    result = invoke(project, "status")
    assert result.exit_code == 0, result.output
    assert "Running (1)" in result.output
    assert "3 of 3 slots are taken" in result.output
    assert "the vendor is down" in result.output
    assert "by bob" in result.output
    assert "4 pipelines: 3 enabled, 1 stopped, 1 running, 2 never ran." in result.output
    assert len(result.output.splitlines()) < 25


@pytest.mark.usefixtures("in_use")
def test_the_command_says_it_in_json(project: Path) -> None:
    status = json.loads(invoke(project, "status", "--json").output)
    assert status["pipelines"]["total"] == 4
    assert status["stopped"]["newest"][0]["until"] == "2999-01-01T12:00:00+00:00"
    assert status["failed"]["count"] == 1


def test_a_database_without_a_catalog_is_too_old(empty_url: str) -> None:
    if empty_url.startswith("sqlite"):
        Path(empty_url.removeprefix("sqlite:///")).touch()
    with pytest.raises(CatalogTooOld, match="none"):
        status_screen(empty_url)


def test_a_newer_catalog_is_refused_as_opening_it_is(catalog: Catalog, catalog_url: str) -> None:
    with catalog.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(CatalogTooNew, match="9999"):
        status_screen(catalog_url)


def test_looking_makes_no_file(tmp_path: Path) -> None:
    file = tmp_path / "nothing.db"
    with pytest.raises(CatalogUnreachable):
        status_screen(f"sqlite:///{file}")
    assert not file.exists()


def test_a_file_that_is_no_database_is_a_coded_error(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    file.write_text("this is a letter, not a database, and a long one at that" * 50)
    with pytest.raises(CatalogDamaged, match="not a database"):
        status_screen(f"sqlite:///{file}")


def test_a_password_is_not_told(tmp_path: Path) -> None:
    with pytest.raises(CatalogUnreachable) as raised:
        status_screen("postgresql://ann:s3cret@127.0.0.1:1/shop")
    assert "s3cret" not in f"{raised.value} {raised.value.facts}"


def test_status_loads_neither_sqlalchemy_nor_its_friends(
    migrated_sqlite: Path, tmp_path: Path
) -> None:
    shutil.copy(migrated_sqlite, tmp_path / "catalog.db")
    (tmp_path / "goldsmith.toml").write_text(
        f'[catalog]\nurl = "sqlite:///{tmp_path / "catalog.db"}"\n'
    )
    script = (
        "import sys\n"
        "from goldsmith.cli.main import goldsmith\n"
        "goldsmith.main(sys.argv[1:], standalone_mode=False)\n"
        "heavy = ('sqlalchemy', 'alembic', 'rich', 'sqlglot', 'pydantic', 'psycopg', 'yaml')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    for arguments in (["status"], ["why", "everything"]):
        done = subprocess.run(
            [sys.executable, "-c", script, "--project", str(tmp_path), *arguments],
            env=os.environ,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.44, "0.4 s"),
        (-3, "0.0 s"),
        (12.3, "12 s"),
        (200, "3 min 20 s"),
        (3_600, "1 h"),
        (2 * 86_400 + 4 * 3_600 + 59, "2 d 4 h"),
    ],
)
def test_spans_are_short(seconds: float, expected: str) -> None:
    assert span(seconds) == expected


def test_an_unknown_moment_is_left_out() -> None:
    assert ago(None, FAR) == ""


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://127.0.0.1:1/d?password=hunter2",
        "postgresql://u:hunter2/x@127.0.0.1:1/d",
        "postgresql://u:at@hunter2@127.0.0.1:1/d",
        "postgresql://u:p@127.0.0.1:hunter2@h/d",
        "postgresql:/u:hunter2@127.0.0.1:1/d",
        "postgresql://u:hunter2@127.0.0.1:1/d?no_such_option=1",
    ],
)
@pytest.mark.parametrize("command", ["status", "plan", "why everything", "catalog check"])
def test_a_password_in_the_address_of_the_catalog_is_not_printed(
    tmp_path: Path, url: str, command: str
) -> None:
    (tmp_path / "goldsmith.toml").write_text("", encoding="utf-8")
    shown = subprocess.run(
        [
            *(sys.executable, "-c", "from goldsmith.cli.main import main; main()"),
            *("--project", str(tmp_path), *command.split()),
        ],
        env={**os.environ, "GOLDSMITH_CATALOG__URL": url},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "hunter2" not in shown.stdout + shown.stderr
    assert "Traceback" not in shown.stderr
    assert shown.returncode in (1, 2)
