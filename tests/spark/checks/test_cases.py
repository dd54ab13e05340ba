"""Every check does what its case file says, on real Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from goldsmith.checks.check import CHECKS
from goldsmith.checks.try_checks import Case, evaluate_on_rows, surprises

CASES = Path(__file__).parents[2] / "cases" / "checks"


@pytest.mark.parametrize("name", CHECKS.names())
def test_a_check_does_what_its_cases_say(quick: SparkSession, name: str) -> None:
    wrong = [
        f"{case.says}: {surprise}"
        for entry in yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))
        for case in [Case.of(entry)]
        for surprise in surprises(case, evaluate_on_rows(quick, case))
    ]
    assert wrong == []
