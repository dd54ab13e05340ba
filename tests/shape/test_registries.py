"""Every finding and every check: one file, its name, a docstring, and a case where it has one."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from goldsmith.checks.check import CHECKS
from goldsmith.planning.integrity.check import FINDINGS

CASES = Path(__file__).parents[1] / "cases"


@pytest.mark.parametrize("name", FINDINGS.names())
def test_a_finding_is_named_documented_and_tried(name: str) -> None:
    assert FINDINGS.get(name).name == name
    document = import_module(f"{FINDINGS.package}.{name}").__doc__
    assert document
    assert document.rstrip().endswith(".")


def test_every_case_file_belongs_to_a_check() -> None:
    assert {file.stem for file in (CASES / "checks").glob("*")} == set(CHECKS.names())
