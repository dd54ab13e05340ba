"""A reader, a transform and a warehouse of another package are found without a change of ours."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from goldsmith.catalog.file_formats import FORMATS
from goldsmith.catalog.transforms import TRANSFORMS, transforms_of
from goldsmith.engine.read import reading
from goldsmith.engine.warehouses.open import WAREHOUSES
from goldsmith.settings.errors import BadSettings
from goldsmith.settings.settings import Settings
from goldsmith.settings.warehouse_kinds import KINDS

PACKAGE = """
from goldsmith.catalog.file_formats import FileFormat
from goldsmith.catalog.transforms import StageTransform, by_column
from goldsmith.engine.warehouses.warehouse import WarehouseKind

yaml = FileFormat(options=("indent",), endings=("yml",), infer=None, read=None)
upper = StageTransform(
    position=15, type="", doc="", example="", problems=by_column("column: true"),
    apply=lambda rows, value: [row.upper() for row in rows],
)
ducklake = WarehouseKind(
    required=("database",), default_port=99,
    open=lambda storage, settings, wait: ("opened", settings.database), probe=None,
)
"""
POINTS = """
[goldsmith.engine.read.formats]
yaml = plugins_of_a_test:yaml
[goldsmith.engine.shape.transforms]
upper = plugins_of_a_test:upper
[goldsmith.engine.warehouses]
ducklake = plugins_of_a_test:ducklake
"""


@pytest.fixture(autouse=True)
def another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "site"
    about = folder / "plugins_of_a_test-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "plugins_of_a_test.py").write_text(PACKAGE)
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: plugins_of_a_test\nVersion: 1.0\n"
    )
    (about / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(folder))
    forget()
    yield
    forget()


def forget() -> None:
    """Registries read entry points once a process."""
    for registry in (FORMATS, TRANSFORMS, WAREHOUSES, KINDS):
        registry.__dict__.pop("_plugins", None)
    reading._endings.cache_clear()


def test_a_file_format_brings_its_endings_and_options() -> None:
    assert "yaml" in FORMATS
    assert reading._endings()["yml"] == "yaml"
    assert FORMATS.get("yaml").options == ("indent",)


def test_a_transform_runs_at_its_position() -> None:
    options = {"cast": {"a": "int"}, "upper": {"a": True}, "rename": {"a": "b"}, "read": "all"}
    assert [transform.position for transform, _value in transforms_of(options)] == [10, 15, 20]
    assert list(TRANSFORMS.get("upper").problems("x")) == [
        ("is 'x'.", "It is an object by column: {column: true}.")
    ]
    assert TRANSFORMS.get("upper").apply(["a"], {"a": True}) == ["A"]  # type: ignore[arg-type]


def load(folder: Path, toml: str) -> Settings:
    (folder / "goldsmith.toml").write_text(f'name = "p"\n[warehouses.redshift]\n{toml}\n')
    environ = {name: value for name, value in os.environ.items() if name == "PATH"}
    return Settings.load(environ, project=folder, environment=None, cwd=folder)


def test_a_warehouse_brings_its_settings_and_is_opened(tmp_path: Path) -> None:
    settings = load(tmp_path, 'kind = "ducklake"\ndatabase = "d"').warehouses["redshift"]
    assert (settings.kind, settings.port) == ("ducklake", 99)
    opened = WAREHOUSES.get(settings.kind).open(None, settings, 1.0)  # type: ignore[arg-type]
    assert opened == ("opened", "d")


def test_a_warehouse_names_the_setting_it_misses(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"'warehouses\.redshift\.database' has no value"):
        load(tmp_path, 'kind = "ducklake"')


def test_a_misspelt_kind_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="did you mean 'ducklake'"):
        load(tmp_path, 'kind = "duklake"')
