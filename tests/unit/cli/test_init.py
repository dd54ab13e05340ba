"""`goldsmith init`: a project that can be planned at once, and nothing overwritten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.rules import RuleSet
from goldsmith.cli.init import ProjectExists
from goldsmith.cli.main import goldsmith
from goldsmith.errors import BadRequest
from goldsmith.planning.resolved_stage import resolve_stage
from goldsmith.planning.sql import SqlReader
from goldsmith.runtime import Runtime


def init(*arguments: str) -> Result:
    return CliRunner().invoke(goldsmith, ["init", *arguments], catch_exceptions=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    init(str(tmp_path / "shop"))
    return tmp_path / "shop"


@pytest.fixture
def example(project: Path) -> dict[str, list[dict[str, Any]]]:
    text = (project / "catalog" / "pipelines.yaml").read_text(encoding="utf-8")
    rows: dict[str, list[dict[str, Any]]] = yaml.safe_load(text)
    return rows


def test_a_project_opens_and_its_catalog_has_the_shipped_rows(project: Path) -> None:
    runtime = Runtime.open(project)

    assert runtime.settings.name == "shop"
    assert runtime.catalog.revision() >= 1
    runtime.close()


def test_the_sample_lies_where_the_source_points(
    project: Path, example: dict[str, list[dict[str, Any]]]
) -> None:
    (source,) = example["sources"]
    real = Path(Runtime.open(project).settings.address(source["s3_path"]))

    (file,) = real.iterdir()
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    columns = [part.split()[0] for part in source["declared_schema"].split(", ")]
    assert [list(line) for line in lines] == [columns, columns]


def test_the_example_holds_together(example: dict[str, list[dict[str, Any]]]) -> None:
    kinds = {
        "pipelines": Pipeline,
        "stages": Stage,
        "sources": Source,
        "targets": Target,
        "validation_rules": RuleSet,
    }
    rows = {name: [kinds[name](**row) for row in listed] for name, listed in example.items()}
    stages = rows["stages"]
    targets = {target.target_id for target in rows["targets"]}
    datasets = targets | {source.source_id for source in rows["sources"]}
    resolved = [resolve_stage(stage, None) for stage in stages]
    sql = SqlReader(frozenset(datasets))

    assert [resolved_stage.layer for resolved_stage in resolved] == ["bronze", "silver", "gold"]
    assert [resolved_stage.write_mode for resolved_stage in resolved] == [
        "append",
        "merge",
        "overwrite",
    ]
    for stage, resolved_stage in zip(stages, resolved, strict=True):
        facts = sql.facts(resolved_stage.sql or f"SELECT * FROM {stage.source_id}")
        assert facts.error is None
        assert facts.reads == (stage.source_id,)
        assert facts.aggregates == (resolved_stage.layer == "gold")
        assert stage.source_id in datasets
        assert stage.target_id in targets


def test_a_project_is_not_made_twice(project: Path) -> None:
    before = (project / "goldsmith.toml").read_text(encoding="utf-8")

    with pytest.raises(ProjectExists, match="already"):
        init(str(project), "--name", "other")
    assert (project / "goldsmith.toml").read_text(encoding="utf-8") == before


def test_what_is_in_the_folder_stays(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.pyc", encoding="utf-8")
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "pipelines.yaml").write_text("pipelines: []", encoding="utf-8")
    init(str(tmp_path))

    assert (tmp_path / ".gitignore").read_text(encoding="utf-8") == "*.pyc\n.goldsmith/\n"
    pipelines = tmp_path / "catalog" / "pipelines.yaml"
    assert pipelines.read_text(encoding="utf-8") == "pipelines: []"


def test_programs_are_told_what_was_made(tmp_path: Path) -> None:
    answer = json.loads(init(str(tmp_path / "x"), "--name", "Ann's shop", "--json").output)

    assert answer["name"] == "Ann's shop"
    assert Runtime.open(tmp_path / "x").settings.name == "Ann's shop"
    assert all((tmp_path / "x" / name).exists() for name in answer["made"])
    assert answer["next"][0] == "goldsmith apply catalog"


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(BadRequest, match="No project can be made"):
        init(str(tmp_path / "file" / "shop"))


def test_a_shared_catalog_named_by_a_variable_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared.db"
    monkeypatch.setenv("GOLDSMITH_CATALOG__URL", f"sqlite:///{shared}")
    monkeypatch.setenv("GOLDSMITH_ENV", "prod")
    init(str(tmp_path / "shop"))

    assert not shared.exists()
    Catalog.open(f"sqlite:///{tmp_path}/shop/.goldsmith/catalog.db").close()
