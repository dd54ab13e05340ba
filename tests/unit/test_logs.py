"""Log lines: one shape, for people or for programs, without secrets."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from goldsmith import logs
from goldsmith.credentials import Secrets
from goldsmith.errors import BadRequest

LOGGER = logging.getLogger("goldsmith.engine.run")


@pytest.fixture(autouse=True)
def _leave_no_handler() -> Iterator[None]:
    root = logging.getLogger(logs.ROOT)
    before = root.level, root.propagate
    yield
    for handler in list(root.handlers):
        logs.stop(handler)
    root.setLevel(before[0])
    root.propagate = before[1]


def test_a_line_for_people_has_its_facts_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    logs.start(level="info", as_json=False)
    logs.line(LOGGER, logging.INFO, "Published silver_orders.", rows=3, stage="orders_etl-2")

    line = capsys.readouterr().err
    assert line.endswith(
        " info    engine.run: Published silver_orders.  rows=3  stage=orders_etl-2\n"
    )


def test_a_line_for_programs_is_one_json_object(tmp_path: Path) -> None:
    file = tmp_path / "made" / "log.jsonl"
    logs.start(level="debug", as_json=True, file=file)
    logs.line(LOGGER, logging.WARNING, "Two\nlines", files=("a", Path("b")), more={"n": None})

    (line,) = file.read_text(encoding="utf-8").splitlines()
    parsed = json.loads(line)
    assert parsed.pop("at").endswith("+00:00")
    assert parsed == {
        "level": "warning",
        "who": "engine.run",
        "says": "Two\nlines",
        "facts": {"files": ["a", "b"], "more": {"n": None}},
    }


def test_less_than_was_asked_for_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    logs.start(level="warning", as_json=False)
    LOGGER.info("not worth a line")

    assert capsys.readouterr().err == ""


def test_a_second_start_does_not_double_the_lines(capsys: pytest.CaptureFixture[str]) -> None:
    logs.start(level="info", as_json=False)
    logs.start(level="info", as_json=False)
    LOGGER.info("once")

    assert capsys.readouterr().err.count("once") == 1


@pytest.mark.parametrize("as_json", [True, False])
def test_no_secret_reaches_a_line(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    # The quote would be escaped in JSON, and then be found no more.
    secrets = Secrets({"PASSWORD": 'hunter"2'})
    secret = secrets.resolve("env:PASSWORD")
    logs.start(level="info", as_json=as_json, hide=secrets.redact)
    try:
        raise ConnectionError(f"refused {secret.reveal()}")
    except ConnectionError:
        LOGGER.exception("Tried %s", secret.reveal(), extra={"facts": {"with": [secret.reveal()]}})

    logged = capsys.readouterr().err
    assert "hunter" not in logged
    assert logged.count("•••") == 3
    assert "ConnectionError" in logged


def test_a_log_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="No log can be written"):
        logs.start(level="info", as_json=False, file=tmp_path)


def test_what_is_written_behind_half_a_line_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text('{"at": "2026-01-01", "le', encoding="utf-8")
    handler = logs.start(level="info", as_json=True, file=file)
    logs.line(LOGGER, logging.INFO, "begun", run_id="run-1")
    logs.stop(handler)
    assert [entry["says"] for entry in logs.read(file)] == ["begun"]
