"""What commands write: nothing of a value is obeyed by a terminal, long values are readable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import terminal
from goldsmith.cli.changed import changed_lines
from goldsmith.cli.main import goldsmith
from goldsmith.cli.output import visible

ESC, RTL = "\x1b", "\u202e"
ODD = f"a{ESC}[31m[red]b{RTL}c\x07\x9b2J"
CATALOG = {
    "pipelines": [{"pipeline_id": f"{ODD}\nforged", "description": ODD, "owner": ODD}],
    "sources": [{"source_id": ODD, "s3_path": f"s3://raw/{ODD}/", "file_format": "csv"}],
    "targets": [{"target_id": f"t{ODD}", "location": f"s3://lake/{ODD}/", "type": "s3"}],
    "stages": [
        {
            "pipeline_id": f"{ODD}\nforged",
            "stage_order": 1,
            "source_id": ODD,
            "target_id": f"t{ODD}",
        }
    ],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose ids a terminal would obey."""
    folder = tmp_path_factory.mktemp("odd") / "shop"
    assert CliRunner().invoke(goldsmith, ["init", str(folder)]).exit_code == 0
    file = folder / "odd.json"
    file.write_text(json.dumps(CATALOG))
    (folder / "odd.sql").write_text(f'INSERT INTO "{ODD}" SELECT "{ODD}" FROM s; SELEC {ODD}')
    applied = invoke(folder, "apply", str(file), "--yes")
    assert applied.exit_code == 0, applied.output
    return folder


def invoke(project: Path, *arguments: str) -> Result:
    return CliRunner().invoke(goldsmith, ["--project", str(project), *arguments])


@pytest.mark.parametrize(
    "arguments",
    [
        ("catalog", "show", "pipelines"),
        ("catalog", "show", "sources", ODD),
        ("catalog", "history"),
        ("catalog", "check"),
        ("catalog", "export"),
        ("datasets", "list"),
        ("datasets", "show", ODD),
        ("datasets", "sample", f"no{ODD}"),
        ("plan", "-v"),
        ("status",),
        ("why", f"pipeline:{ODD}\nforged"),
        ("why", f"dataset:{ODD}"),
        ("stop", f"pipeline:{ODD}\nforged", "--yes", "--reason", ODD),
        ("release", f"pipeline:{ODD}\nforged"),
        ("flags", "list"),
        ("runs", "show", ODD),
        ("diff", "odd.json"),
        (ODD,),
        ("runs", "list", "--status", ODD),
        ("queue",),
        ("workers",),
        ("schedules", "list"),
        ("schedules", "next", f"no {ODD}\nforged"),
        ("schedules", "pause", f"no {ODD}\nforged"),
        ("keys", "revoke", f"no {ODD}\nforged"),
        ("runs", "show", f"no {ODD}\nforged"),
        ("paths", f"no {ODD}\nforged"),
        ("backfill", f"{ODD}\nforged", "--from", "2026-01-01", "--dry-run"),
        ("backfill", "--show", ODD),
        ("lineage", "down", ODD),
        ("lineage", "impact", ODD),
        ("lineage", "export", "--format", "mermaid"),
        ("lineage", "export", "--format", "dot"),
        ("paths", f"t{ODD}"),
        ("digest", "odd.sql"),
        ("keys", "create", ODD, "--role", "viewer"),
        ("keys", "list"),
        ("push", "push", ODD),
        ("simulate", "--rehearse", ODD),
        ("errors", "explain", ODD),
        ("healing", "simulate", ODD),
        ("config", "show"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]).encode("unicode_escape").decode()[:30],
)
def test_a_terminal_obeys_no_value(project: Path, arguments: tuple[str, ...]) -> None:
    shown = terminal.goldsmith(*arguments, cwd=project).text
    left = shown
    for ours in ("[1m", "[2m", "[0m", *(f"[{colour}m" for colour in range(31, 37))):
        left = left.replace(f"{ESC}{ours}", "")
    assert ESC not in left
    assert not {RTL, "\x07", "\x9b"} & set(left)
    assert f"{ESC}[31m[red]" not in shown
    assert not any(line.startswith("forged") for line in shown.splitlines())
    assert "Traceback" not in shown


def test_json_stays_the_same_value(project: Path) -> None:
    text = invoke(project, "catalog", "show", "sources", "--json").output
    assert [row["source_id"] for row in json.loads(text)][-1:] == [ODD] or ODD in {
        row["source_id"] for row in json.loads(text)
    }
    assert not {ESC, RTL, "\x9b"} & set(text)


def test_an_export_through_a_pipe_is_the_catalog_to_the_character(project: Path) -> None:
    command = [sys.executable, "-c", "from goldsmith.cli.main import main; main()"]
    done = subprocess.run(
        [*command, "catalog", "export", "--json"], cwd=project, capture_output=True, check=True
    )
    assert ODD in {row["source_id"] for row in json.loads(done.stdout)["sources"]}


def test_what_is_harmless_is_written_as_it_is() -> None:
    harmless = "Zürich 東京 👩\u200d🔧 [bold] a\\b"
    assert visible(harmless) == harmless
    assert visible("a\nb\tc") == "a\\nb\\tc"
    assert visible("a\nb", keep="\n") == "a\nb"
    assert visible("\udcff") == "\\udcff"


@pytest.mark.parametrize(
    "env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "TERM=dumb"]
)
def test_a_terminal_that_wants_no_colour_gets_none(project: Path, env: dict[str, str]) -> None:
    assert ESC not in terminal.goldsmith("status", cwd=project, columns=20, env=env).text


def test_a_long_value_is_compared_line_by_line() -> None:
    before = "SELECT id,\n  amount,\n  shop\nFROM orders\nWHERE amount > 0\n  AND shop = 'Basel'"
    after = before.replace("amount > 0", "amount > 10")
    assert list(changed_lines("transform_sql", before, after)) == [
        "transform_sql:",
        "  …",
        "      shop",
        "    FROM orders",
        "  - WHERE amount > 0",
        "  + WHERE amount > 10",
        "      AND shop = 'Basel'",
    ]
    assert list(changed_lines("owner", None, "ann")) == ["owner: not set → ann"]
    assert list(changed_lines("sql", "a\n" * 40, "a\n" * 40 + "\n"))[1:] != []
    options = {f"option_{number}": "x" * 10 for number in range(5)}
    lines = list(changed_lines("options", options, {**options, "option_3": "y"}))
    assert '  -   "option_3": "xxxxxxxxxx",' in lines
    assert '  +   "option_3": "y",' in lines
    assert not any("option_0" in line for line in lines)


@pytest.mark.parametrize("command", ["apply", "diff", ("catalog", "drift")])
@pytest.mark.parametrize("name", ["/dev/null", "no-files", "empty.yaml", "comment.yaml"])
def test_files_that_declare_nothing_are_an_error(
    project: Path, command: str | tuple[str, str], name: str
) -> None:
    (project / "no-files").mkdir(exist_ok=True)
    (project / "no-files" / "notes.txt").write_text("nothing")
    (project / "empty.yaml").write_text("")
    (project / "comment.yaml").write_text("# later\n")
    arguments = (command,) if isinstance(command, str) else command
    shown = terminal.goldsmith(*arguments, name, cwd=project)
    assert shown.code == 2
    assert "[NothingDeclared]" in shown.text or "[NothingInFolder]" in shown.text


def test_diff_exits_1_where_the_catalog_would_have_errors(project: Path) -> None:
    file = project / "wrong.yaml"
    file.write_text("stages: [{pipeline_id: nobody, stage_order: 1, source_id: nothing}]")
    assert invoke(project, "diff", str(file)).exit_code == 1
    assert invoke(project, "diff", str(file), "--json").exit_code == 1
    assert invoke(project, "diff", str(project / "odd.json")).exit_code == 0


def piped(project: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a command through pipes, where Python would write Latin-1."""
    return subprocess.run(
        [sys.executable, "-c", "from goldsmith.cli.main import main; main()", *arguments],
        cwd=project,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        input=stdin,
        capture_output=True,
        check=False,
    )


def test_a_terminal_without_our_characters_shows_them_escaped(project: Path) -> None:
    shown = terminal.goldsmith("plan", cwd=project, env={"PYTHONIOENCODING": "latin-1"})
    assert "Traceback" not in shown.text
    assert "\\u2192" in shown.text


def test_files_and_pipes_get_utf_8_in_every_locale(project: Path) -> None:
    exported = piped(project, "catalog", "export")
    assert exported.returncode == 0, exported.stderr
    assert "日本" not in exported.stdout.decode("utf-8")
    row = {"pipelines": [{"pipeline_id": "日本", "description": "ü"}]}
    (project / "names.json").write_text(json.dumps(row))
    assert piped(project, "apply", "names.json", "--yes").returncode == 0
    exported = piped(project, "catalog", "export", "--pipeline", "日本")
    assert "pipeline_id: 日本\n" in exported.stdout.decode("utf-8"), exported


def test_lines_of_sql_are_utf_8_in_every_locale(project: Path) -> None:
    lines = '{"id": 1, "sql": "INSERT INTO tü SELECT a FROM s"}\n'.encode() + b'{"id": 2\xff}\n'
    done = piped(project, "digest", "--jsonl", stdin=lines)
    assert done.returncode == 0, done.stderr
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["downstream"] == ["tü"]
    assert "not UTF-8" in second["error"]
