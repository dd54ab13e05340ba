"""What a new user reads: whole sentences, without Spark's or Python's own, each with a way on."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from goldsmith.catalog import bundle
from goldsmith.catalog.yaml_documents import BadFiles
from goldsmith.cli import demo
from goldsmith.cli.main import goldsmith
from goldsmith.cli.rows import counts_text
from goldsmith.cli.runs import _print_run, _verdict_line
from goldsmith.cli.why import _print
from goldsmith.engine.failures import readable
from goldsmith.errors import BadRequest, GoldsmithError
from goldsmith.journal.reason import Answer, Reason
from goldsmith.journal.tables import Run, StageRun, Verdict
from goldsmith.planning.past_state import NOT_WRITTEN, CannotRestore

ANALYSIS = """[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `sohp` cannot be resolved. \
Did you mean one of the following? [`shop`]. SQLSTATE: 42703; line 1 pos 70;
'Project [visit_id#1, 'sohp]
+- SubqueryAlias x
"""


VALUE = """[CAST_INVALID_INPUT] The value 'never' of the type "STRING" cannot be cast to \
"TIMESTAMP" because it is malformed. SQLSTATE: 22018
== SQL (line 2, position 24) ==
SELECT visit_id, CAST(visited_at AS TIMESTAMP) AS visited_at FROM `goldsmith_0...
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

"""
CONTEXT: Any = SimpleNamespace(
    stage_id="visits-2", target=None, stage=SimpleNamespace(target_id="silver_visits")
)


def test_a_bad_value_is_told_with_its_line_and_without_sql_of_ours() -> None:
    error = RuntimeError(VALUE)
    error.add_note("It is in column visited_at of bronze_visits.")
    assert str(readable(error, CONTEXT)) == (
        "Stage visits-2 (silver_visits, line 2 of its SQL) failed: [CAST_INVALID_INPUT] The value "
        '\'never\' of the type "STRING" cannot be cast to "TIMESTAMP" because it is malformed. '
        "It is in column visited_at of bronze_visits."
    )


def test_an_unknown_function_is_told_without_a_state() -> None:
    text = "[UNRESOLVED_ROUTINE] Cannot resolve routine `cuont`. SQLSTATE: 42883; line 1 pos 41"
    said = str(readable(RuntimeError(text), CONTEXT))
    assert said.endswith("Cannot resolve routine `cuont` (line 1).")


def test_an_unknown_column_is_told_without_the_plan_of_spark() -> None:
    said = str(readable(RuntimeError(ANALYSIS), CONTEXT))
    assert said.endswith("Did you mean one of the following? [`shop`] (line 1).")
    assert "Project" not in said


def test_one_row_is_one_row() -> None:
    one = StageRun(stage_run_id="a", rows_read=1, rows_written=1)
    assert counts_text(one, by_sql=True) == "1 row produced, 1 published"


def test_a_verdict_names_its_columns() -> None:
    verdict = Verdict(stage_run_id="a", place=1, check_name="not_null", settings={"column": "id"})
    both = verdict.with_(check_name="unique", settings={"columns": ["a", "b"]})
    of_all = verdict.with_(check_name="row_count", settings={"min": 1})
    assert [_verdict_line(one)[1] for one in (verdict, both, of_all)] == [
        "not_null of id",
        "unique of a, b",
        "row_count",
    ]


def test_a_row_that_is_no_mapping_is_named_by_its_own_line() -> None:
    text = "stages:\n  - {pipeline_id: p, stage_order: 1}\n  - orders\n"
    with pytest.raises(BadFiles) as refused:
        bundle.load([("rows.yaml", text)])
    assert "rows.yaml:3: a row of 'stages' has to be a mapping of columns" in str(refused.value)


def test_raw_files_cannot_be_restored_and_the_hint_fits_them() -> None:
    said = CannotRestore(dataset="raw_visits", reason=NOT_WRITTEN)
    assert "--full-refresh" not in said.hint


@pytest.mark.parametrize("command", ["import", "try"])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"a: [1\nb: {", "rules.yaml:2: it is not YAML or JSON"),
        (b"\xff\xfe\x00", "it is not text in UTF-8"),
        (b"- 1\n", "object"),
    ],
)
def test_a_file_of_checks_that_cannot_be_read_says_where_and_what_to_do(
    tmp_path: Path, command: str, text: bytes, says: str
) -> None:
    file = tmp_path / "rules.yaml"
    file.write_bytes(text)
    done = CliRunner().invoke(goldsmith, ["checks", command, str(file)])
    error = done.exception
    assert isinstance(error, GoldsmithError), done.output
    assert error.hint
    told = f"{error} {error.hint}"
    assert says in told or (command == "import" and "neither a suite nor" in told)
    assert "codec" not in told
    assert "position" not in told


def test_a_suite_whose_expectations_are_no_objects_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "suite.json"
    file.write_text('{"expectations": ["not_null"]}')
    done = CliRunner().invoke(goldsmith, ["checks", "import", str(file)])
    assert isinstance(done.exception, BadRequest)
    assert "has to be a list of objects" in str(done.exception)


def test_the_demo_names_a_command_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = tmp_path / ".venv" / "bin" / "goldsmith"
    command.parent.mkdir(parents=True)
    command.touch()
    monkeypatch.setattr(sys, "argv", [str(command)])
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable) + "-none")
    said = demo._next(tmp_path / "demo")
    assert "\n  ../.venv/bin/goldsmith plan  " in said
    assert "`../.venv/bin/goldsmith run`" in said
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent))
    assert "\n  goldsmith plan  " in demo._next(tmp_path / "demo")


def test_why_shows_a_long_error_once_also_where_a_reason_follows_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    message = f"Stage visits-2 (silver_visits) failed: {'a very long error. ' * 5}It ends here."
    sentences = (
        f"Incident opened: {message} (no retry policy says that it is tried again).",
        f"Run run-1 failed: ValueDoesNotFit: {message}",
    )
    reasons = tuple(Reason(at=None, says=sentence) for sentence in sentences)
    because = f"Run run-1 failed: ValueDoesNotFit: {message}"
    _print(Answer(subject="pipeline:v", state="failed", because=because, reasons=reasons))
    shown = capsys.readouterr().out
    assert shown.count("It ends here") == 1
    assert "Incident opened (no retry policy says that it is tried again)." in shown
    assert shown.count("ValueDoesNotFit") == 2


def test_a_failed_run_shows_the_message_of_its_stage_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    failed = {"status": "failed", "error_code": "ValueDoesNotFit", "error_message": "It is bad."}
    run = Run(run_id="run-1", pipeline_id="visits", **failed)
    stage = StageRun(stage_run_id="a", stage_order=2, **failed)
    _print_run(run, [stage], [], [], [])
    shown = capsys.readouterr().out
    assert shown.count("It is bad.") == 1
    assert shown.count("ValueDoesNotFit") == 2
