"""`run`, as far as it goes without Spark: stages that are left out, stopped or have nothing new."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from goldsmith.catalog.catalog import Catalog
from goldsmith.cli.main import goldsmith
from goldsmith.engine.cancel_token import CancelToken
from goldsmith.journal import leases, requests
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner
from goldsmith.journal.tables import Request
from goldsmith.worker.loop import EverythingStopped

CATALOG = """
pipelines: [{pipeline_id: p}]
stages:
  - {pipeline_id: p, stage_order: 1, source_id: raw, target_id: bronze_x}
  - {pipeline_id: p, stage_order: 2, source_id: bronze_x, target_id: silver_x, enabled: false}
sources: [{source_id: raw, s3_path: "s3://raw/x/", file_format: jsonl}]
targets:
  - {target_id: bronze_x, location: "s3://lake/b/", type: s3}
  - {target_id: silver_x, location: "s3://lake/s/", type: s3}
"""
FLAG = """
control_flags: [{entity_type: stage, entity_id: p-1, flag_name: enabled, flag_value: false}]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one stage that has nothing to read and one that is not enabled."""
    folder = tmp_path / "shop"
    assert CliRunner().invoke(goldsmith, ["init", str(folder)]).exit_code == 0
    apply(folder, CATALOG)
    return folder


def apply(folder: Path, text: str) -> None:
    (folder / "rows.yaml").write_text(text)
    applied = invoke(folder, "apply", str(folder / "rows.yaml"), "--yes")
    assert applied.exit_code == 0, applied.output


def invoke(project: Path, *arguments: str) -> Result:
    return CliRunner().invoke(goldsmith, ["--project", str(project), *arguments])


def test_one_stage_that_is_not_enabled_is_named_and_the_run_succeeds(project: Path) -> None:
    done = invoke(project, "run", "p")
    assert done.exit_code == 0, done.output
    assert "p succeeded: left out: stage 'p-2' is not enabled" in done.output
    (run,) = json.loads(invoke(project, "run", "p", "--json").output)
    assert [stage["status"] for stage in run["stages"]] == ["skipped", "skipped"]


def test_a_run_of_nothing_but_what_is_not_enabled_succeeds_and_says_so(project: Path) -> None:
    done = invoke(project, "run", "stage:p-2", "--quiet")
    assert done.exit_code == 0, done.output
    assert "left out: stage 'p-2' is not enabled" in done.output


def test_a_flag_still_stops_a_run_that_would_leave_the_other_stage_out(project: Path) -> None:
    apply(project, FLAG)
    done = invoke(project, "run", "p")
    assert isinstance(done.exception, EverythingStopped), done.output
    assert done.exception.exit_code == 1


def test_a_replay_of_a_stage_that_is_not_enabled_does_not_pretend_to_have_happened(
    project: Path,
) -> None:
    done = invoke(project, "quarantine", "replay", "silver_x")
    assert done.exit_code == 0, done.output
    assert "Nothing to replay: the quarantine of 'silver_x' has no live row." in done.output


def test_a_run_carries_out_once_what_earlier_runs_asked_for_as_well(project: Path) -> None:
    catalog = Catalog.open(f"sqlite:///{project / '.goldsmith' / 'catalog.db'}")
    journal = Journal(catalog.engine)
    for name in ("a", "b"):
        requests.put(journal, Request(request_id=name, selection=("p",), asked_by="ann"))
    done = invoke(project, "run", "p")
    assert done.exit_code == 0, done.output
    assert done.output.count("p succeeded") == 1
    assert "a already waited for the same run; both were run once." in done.output
    assert [requests.get(journal, name).status for name in ("a", "b")] == ["done", "cancelled"]
    catalog.close()


def test_stop_names_what_a_worker_has_taken_and_not_begun(project: Path) -> None:
    """Spark takes seconds to start: no stage runs yet, and the stop reaches it all the same."""
    catalog = Catalog.open(f"sqlite:///{project / '.goldsmith' / 'catalog.db'}")
    journal = Journal(catalog.engine)
    requests.put(journal, Request(request_id="req-1", selection=("p",), pipelines=("p",)))
    assert requests.take(journal, "req-1", str(Owner.this_process())) is not None
    catalog.engine.dispose()

    shown = invoke(project, "stop", "pipeline:p", "--yes")
    assert "running now: none" in shown.output
    assert "starting: p (req-1)" in shown.output


def test_a_path_that_was_never_there_is_a_warning_with_the_nearest_path(project: Path) -> None:
    (project / ".goldsmith" / "s3" / "raw" / "xx").mkdir(parents=True)
    shown = "there is no file at s3://raw/x/ and there never was one (s3_path of source 'raw')"
    assert shown in invoke(project, "plan", "p").output
    assert (
        f"p succeeded: left out: stage 'p-2' is not enabled; {shown}"
        in invoke(project, "run", "p", "--quiet").output
    )
    assert f"{shown}; did you mean s3://raw/xx?" in invoke(project, "run", "p").output
    assert shown in invoke(project, "status").output
    (run, *_rest) = json.loads(invoke(project, "runs", "list", "--json").output)
    assert shown in invoke(project, "runs", "show", run["run_id"]).output


def test_a_remedy_that_failed_and_one_that_helped_are_shown_everywhere(project: Path) -> None:
    folder = project / ".goldsmith" / "s3" / "raw" / "x"
    folder.mkdir(parents=True)
    bad = os.fsencode(folder) + b"/caf\xe9.jsonl"
    Path(os.fsdecode(bad)).write_text("{}\n")
    broken, mend = project / "broken.sh", project / "mend.sh"
    broken.write_text("#!/bin/sh\necho no luck >&2\nexit 3\n")
    mend.write_text(f'#!/bin/sh\nrm {folder}/*\necho \'{{"do": "rerun", "because": "away"}}\'\n')
    broken.chmod(0o755)
    mend.chmod(0o755)
    apply(
        project,
        """
pipelines: [{pipeline_id: p, default_retry_id: now}]
retry_policies: [{retry_id: now, max_retries: 1, backoff_sec: 0}]
healing_actions: [{error_code: FileNameUnreadable, action_script: ./broken.sh}]
healing_steps: [{error_code: FileNameUnreadable, step_order: 2, action_script: ./mend.sh}]
""",
    )
    done = invoke(project, "run", "p")
    assert done.exit_code == 0, done.output
    shown = "the remedy ./broken.sh failed itself: The remedy './broken.sh' gave no decision: it "
    assert shown + "ended with 3: no luck" in done.output
    assert "p-1 was healed of FileNameUnreadable by the remedy ./mend.sh" in done.output
    runs = json.loads(invoke(project, "runs", "list", "--json").output)
    failed = next(run["run_id"] for run in runs if run["status"] == "failed")
    assert shown in invoke(project, "runs", "show", failed).output
    assert "ended with 3: no luck" in invoke(project, "why", failed).output
    history = json.loads(invoke(project, "healing", "history", "--json").output)
    assert sorted((use["remedy"], use["did"], use["outcome"]) for use in history) == [
        ("./broken.sh", "failed", "failed"),
        ("./mend.sh", "rerun", "helped"),
    ]


def test_a_decision_that_changed_while_the_stage_waited_for_its_target_is_said(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stage had a new file when it began to wait; then the file is deleted."""
    folder = project / ".goldsmith" / "s3" / "raw" / "x"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_text('{"id": 1}\n')
    planned = json.loads(invoke(project, "plan", "stage:p-1", "--json").output)["stages"][0]
    assert planned["reasons"] == ["new_files"]
    catalog = Catalog.open(f"sqlite:///{project / '.goldsmith' / 'catalog.db'}")
    journal = Journal(catalog.engine)
    other = Owner.this_process()
    resource = "s3://lake/b"
    lease = leases.acquire(journal, resource, other)
    assert lease is not None

    def meanwhile(_token: CancelToken, _seconds: float) -> bool:
        (folder / "a.jsonl").unlink()
        assert leases.release(journal, lease)
        return False

    monkeypatch.setattr(CancelToken, "wait", meanwhile)
    (run,) = json.loads(invoke(project, "run", "stage:p-1", "--json").output)
    catalog.close()
    (stage,) = run["stages"]
    assert stage["status"] == "skipped"
    assert stage["because"].startswith("nothing new of its inputs; ")
    assert f"this changed since the plan, which had: {planned['because']}" in stage["because"]
