"""Every finding and every check: one file, its name, a docstring, and a case where it has one."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from goldsmith.catalog.pipelines import ShippedWriteMode
from goldsmith.catalog.write_modes import WRITE_MODES
from goldsmith.checks.check import CHECKS
from goldsmith.planning.integrity.check import FINDINGS
from shape.test_layers import TREES

CASES = Path(__file__).parents[1] / "cases"


@pytest.mark.parametrize("name", FINDINGS.names())
def test_a_finding_is_named_documented_and_tried(name: str) -> None:
    assert FINDINGS.get(name).name == name
    document = import_module(f"{FINDINGS.package}.{name}").__doc__
    assert document
    assert document.rstrip().endswith(".")


def test_every_case_file_belongs_to_a_check() -> None:
    assert {file.stem for file in (CASES / "checks").glob("*")} == set(CHECKS.names())


#: Modules that compare with the name of a write mode, and what they mean by it.
COMPARE_MODES = {
    "digest.catalog_rows": "suggests a mode for a statement of SQL",
    "digest.medallion": "what a statement of SQL does",
    "planning.integrity.findings.no_partitions_to_replace": "the option of that name",
}


def test_no_module_branches_on_the_name_of_a_write_mode() -> None:
    """All that is known of a mode is in its declaration, so that a mode is one file."""
    modes = set(WRITE_MODES.shipped())
    found = {
        module.removeprefix("goldsmith.")
        for module, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and part.value in modes
    }
    assert found == COMPARE_MODES.keys()


@pytest.mark.parametrize("mode", ShippedWriteMode)
def test_the_column_names_modes_that_exist(mode: str) -> None:
    assert mode in WRITE_MODES.shipped()
