"""`lineage columns` shows declared column lineage, and names what is not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from goldsmith.cli.main import goldsmith
from goldsmith.registry import UnknownName

CATALOG = """
sources:
  - {source_id: raw, s3_path: "s3://x/raw/", file_format: csv}
targets:
  - {target_id: bronze, location: "s3://x/bronze/", type: s3}
  - {target_id: gold, location: analytics.gold, type: redshift}
column_lineage:
  - {from_dataset_id: raw, from_column: id, to_dataset_id: bronze, to_column: id, kind: identity}
  - {from_dataset_id: bronze, from_column: id, to_dataset_id: gold, to_column: users,
     kind: aggregate, expression: COUNT(DISTINCT id)}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    assert CliRunner().invoke(goldsmith, ["init", str(folder)]).exit_code == 0
    file = tmp_path / "columns.yaml"
    file.write_text(CATALOG, encoding="utf-8")
    applied = CliRunner().invoke(goldsmith, ["--project", str(folder), "apply", str(file), "--yes"])
    assert applied.exit_code == 0, applied.output
    return folder


def asked(project: Path, *arguments: str) -> list[tuple[str, str]]:
    done = CliRunner().invoke(
        goldsmith, ["--project", str(project), "lineage", "columns", *arguments, "--json"]
    )
    assert done.exception is None, done.exception
    return [(step["from_column"], step["to_column"]) for step in json.loads(done.output)]


def test_the_sources_of_a_column_are_followed_to_the_raw_data(project: Path) -> None:
    assert asked(project, "gold", "users") == [("id", "users"), ("id", "id")]
    assert asked(project, "gold", "--depth", "1") == [("id", "users")]
    assert asked(project, "raw", "id", "--down") == [("id", "id"), ("id", "users")]


def test_a_column_without_lineage_is_named_with_those_that_have_some(project: Path) -> None:
    command = ["--project", str(project), "lineage", "columns", "gold", "nothing"]
    done = CliRunner().invoke(goldsmith, command)
    assert isinstance(done.exception, UnknownName)
    assert "users" in str(done.exception.hint)
