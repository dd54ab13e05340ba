"""Every option that takes a number or a time refuses what makes no sense, with a code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from goldsmith.cli.main import goldsmith
from goldsmith.errors import GoldsmithError

NUMBERS = ("0", "-1", "99999999999999999999", "1e9", "NaN", "", "٣", "1_000_000_000_000")
TIMES = (
    *("999999999d", "0001-01-01", "0001-01-01T00:00+14:00", "9999-12-31T23:59-12:00", "25:99"),
    *("99999999999999999999h", "-1d", "", "2026-13-45", "tomorrow"),
)
#: Values for the words a command needs besides.
WORDS = {"selection": [], "entity": ["pipeline:example"], "dataset_id": ["example"]}
_TIMES = ("until", "since", "before", "to_time", "at", "to", "expires", "every", "rehearse")


def options(group: click.Group, *path: str) -> Iterator[tuple[tuple[str, ...], str, bool]]:
    """Commands with each option of theirs that takes a number or a time."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from options(command, *path, name)
            continue
        for option in command.params:
            is_number = isinstance(option.type, click.IntRange | click.types.IntParamType)
            is_time = option.name in _TIMES and not is_number
            if isinstance(option, click.Option) and (is_number or is_time):
                yield (*path, name), option.opts[0], is_number


#: Commands that would run for long with a valid number; they get only numbers they must refuse.
LONG = ("serve", "worker", "simulate")
ASKED = sorted(set(options(goldsmith)))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("options") / "shop"
    assert CliRunner().invoke(goldsmith, ["init", str(folder)]).exit_code == 0
    applied = CliRunner().invoke(
        goldsmith, ["--project", str(folder), "apply", str(folder / "catalog"), "--yes"]
    )
    assert applied.exit_code == 0, applied.output
    return folder


def test_there_are_such_options() -> None:
    run_options = {(path[-1], option) for path, option, _ in ASKED}
    assert {("run", "--at-once"), ("run", "--limit"), ("stop", "--until")} <= run_options
    assert {("forget", "--before"), ("status", "--most"), ("run", "--from")} <= run_options


@pytest.mark.parametrize(("path", "option", "is_number"), ASKED)
def test_an_odd_value_is_refused_with_a_code_and_never_a_traceback(
    project: Path, path: tuple[str, ...], option: str, is_number: bool
) -> None:
    for value in NUMBERS if is_number else TIMES:
        if path[-1] in LONG and value in ("0", "٣", "99999999999999999999", "1_000_000_000_000"):
            continue
        arguments = ["--project", str(project), *path, f"{option}={value}"]
        arguments += {"stop": ["pipeline:example", "--yes"], "undo": ["--yes"]}.get(path[-1], [])
        arguments += {"forget": ["--dry-run"], "run": ["--dry-run"]}.get(path[-1], [])
        arguments += {"backfill": ["orders_etl", "--dry-run"]}.get(path[-1], [])
        arguments += {"restore": ["silver_orders", "--dry-run"]}.get(path[-1], [])
        done = CliRunner().invoke(goldsmith, arguments)
        fine = done.exception is None or isinstance(done.exception, SystemExit | GoldsmithError)
        assert fine, (value, done.exception)
        if is_number and value not in ("0", "٣"):
            assert done.exit_code != 0, (value, done.output)


@pytest.mark.parametrize(
    "span",
    [
        ("--from", "0001-01-01", "--every", "1h"),
        ("--from", "9999-12-30", "--to", "9999-12-31", "--every", "9999d"),
    ],
)
def test_a_backfill_at_the_ends_of_the_calendar_is_refused_in_words(
    project: Path, span: tuple[str, ...]
) -> None:
    arguments = ["--project", str(project), "backfill", "orders_etl", "--dry-run", *span]
    done = CliRunner().invoke(goldsmith, arguments)
    assert isinstance(done.exception, SystemExit | GoldsmithError), done.exception


@pytest.mark.parametrize(
    "arguments",
    [
        (b"run", b"--at-once", b"0"),
        (b"stop", b"pipeline:x", b"--until", b"999999999d"),
        (b"why", b"pipeline:\xff\xfe"),
        (b"apply", b"\xff.yaml"),
        (b"\xff",),
        (b"apply", b"/bin/sh"),
        (b"apply", b"garbage.yaml"),
        (b"apply", b"/dev/zero"),
        (b"apply", b"bomb.yaml"),
    ],
)
def test_what_cannot_be_is_refused_in_words(project: Path, arguments: tuple[bytes, ...]) -> None:
    (project / "garbage.yaml").write_bytes(bytes(range(256)) * 20)
    layers = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (project / "bomb.yaml").write_text("\n".join(["a0: &a0 [x, x]", *layers]))
    command = [sys.executable, "-c", "from goldsmith.cli.main import main; main()"]
    done = subprocess.run(
        [*map(os.fsencode, command), *arguments], cwd=project, capture_output=True, check=False
    )
    stderr = done.stderr.decode("utf-8", "replace")
    assert done.returncode == 2, stderr
    assert "Traceback" not in stderr
    assert "Unclassified" not in stderr
    assert stderr.startswith("Error: ")
    assert stderr.rstrip().endswith("]")


def test_a_file_that_cannot_be_written_is_refused_in_words(project: Path) -> None:
    trace = project / "trace.jsonl"
    trace.write_text(json.dumps({"name": "a", "arrival": 0, "stages": [{"seconds": 1}]}))
    outputs = (
        ("catalog", "export", "--output"),
        ("catalog", "schema", "--output"),
        ("lineage", "export", "--output"),
        ("simulate", "--trace", str(trace), "--html"),
    )
    for *command, option in outputs:
        for file in ("", ".", "/dev/null/x", str(project / "no-such-folder" / "file")):
            arguments = ["--project", str(project), *command, f"{option}={file}"]
            done = CliRunner().invoke(goldsmith, arguments)
            assert isinstance(done.exception, SystemExit | GoldsmithError), (arguments, done.output)


@pytest.mark.parametrize(
    "command",
    [
        "checks try",
        "checks import",
        "errors classify",
        "digest",
        "push push",
        "simulate --trace",
        "simulate --catalog",
    ],
)
def test_a_file_without_an_end_is_refused_in_words(project: Path, command: str) -> None:
    program = "import resource; resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30));"
    program += "from goldsmith.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *command.split(), "/dev/zero"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("Error: ")
    assert "Traceback" not in done.stderr
