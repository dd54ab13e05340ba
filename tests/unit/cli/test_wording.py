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
from goldsmith.cli.runs import _verdict_line
from goldsmith.engine.failures import readable
from goldsmith.errors import BadRequest, GoldsmithError
from goldsmith.journal.tables import StageRun, Verdict
from goldsmith.planning.past_state import NOT_WRITTEN, CannotRestore

ANALYSIS = """[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `sohp` cannot be resolved. \
Did you mean one of the following? [`shop`]. SQLSTATE: 42703; line 1 pos 70;
'Project [visit_id#1, 'sohp]
+- SubqueryAlias x
"""


def test_an_unknown_column_is_told_without_the_plan_of_spark() -> None:
    context: Any = SimpleNamespace(
        stage_id="visits-2", target=None, stage=SimpleNamespace(target_id="silver_visits")
    )
    said = str(readable(RuntimeError(ANALYSIS), context))
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
