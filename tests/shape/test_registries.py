"""Every finding and every check: one file, its name, a docstring, and a case where it has one."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from goldsmith.checks.check import CHECKS
from goldsmith.healing.remedy import REMEDIES
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


#: Remedies that ask somebody else; tests/unit/healing/test_outside.py tries them.
OUTSIDE = {name for name, remedy in REMEDIES.all() if remedy.asks_outside}


@pytest.mark.parametrize("name", REMEDIES.names())
def test_a_remedy_is_named_documented_and_tried(name: str) -> None:
    assert REMEDIES.get(name).name == name
    document = import_module(f"{REMEDIES.package}.{name}").__doc__
    assert document
    assert document.rstrip().endswith(".")
    assert name in OUTSIDE or (CASES / "healing" / f"{name}.yaml").exists()


def test_every_case_file_belongs_to_a_remedy_and_there_are_enough() -> None:
    tried = {file.stem for file in (CASES / "healing").glob("*")}
    assert tried == set(REMEDIES.names()) - OUTSIDE
    assert len(tried) >= 15
