"""Every finding and every check: one file, its name, a docstring, and a case where it has one."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from goldsmith.checks.check import CHECKS
from goldsmith.planning.integrity.check import FINDINGS, rules

CASES = Path(__file__).parents[1] / "cases"


@pytest.mark.parametrize("name", FINDINGS.names())
def test_a_finding_is_named_documented_and_tried(name: str) -> None:
    assert FINDINGS.get(name).name == name
    document = import_module(f"{FINDINGS.package}.{name}").__doc__
    assert document
    assert document.rstrip().endswith(".")
    cases = yaml.safe_load((CASES / "findings" / f"{name}.yaml").read_text("utf-8"))
    assert any(case["found"] for case in cases), "no case with something wrong"
    assert any(not case["found"] for case in cases), "no case with nothing wrong"
    assert all(case["says"] for case in cases)


def test_every_case_file_belongs_to_a_finding() -> None:
    assert {file.stem for file in (CASES / "findings").glob("*")} == set(FINDINGS.names())


def test_there_are_enough_findings_and_their_codes_are_their_own() -> None:
    known = [rule for kind in rules() for rule in kind]
    assert len(known) == len(FINDINGS.names()) >= 30
    assert Counter(rule.code for rule in known).most_common(1)[0][1] == 1


@pytest.mark.parametrize("name", CHECKS.names())
def test_a_check_is_named_and_documented(name: str) -> None:
    check = CHECKS.get(name)
    assert check.name == name
    assert check.says
    assert check.says.format(**dict.fromkeys(check.settings, "x"))
    document = import_module(f"{CHECKS.package}.{name}").__doc__
    assert document
    assert document.rstrip().endswith(".")
    cases = yaml.safe_load((CASES / "checks" / f"{name}.yaml").read_text("utf-8"))
    expected = [one for case in cases for one in case["expect"]]
    assert any(one["passed"] for one in expected), "no case that holds"
    assert any(not one["passed"] for one in expected), "no case that does not hold"
    assert any(not case["rows"] for case in cases), "no case without rows"


def test_every_case_file_belongs_to_a_check() -> None:
    assert {file.stem for file in (CASES / "checks").glob("*")} == set(CHECKS.names())
