"""The tool an alias comes from gives the same verdict on the same rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from goldsmith.checks.try_checks import Case, answer, evaluate_on_rows, surprises
from goldsmith.setup import java
from oracles.cases_of_great_expectations import cases
from oracles.dbt_oracle import NoPackages, Project
from oracles.environments import python_of

ORACLE = Path(__file__).parents[2] / "oracles" / "great_expectations_oracle.py"
PEERS = Path(__file__).parents[2] / "cases" / "peers"
DBT = ("dbt", "dbt_utils", "dbt_expectations")


def verdicts(all_cases: list[dict[str, Any]]) -> list[Any]:
    """What Great Expectations says on Spark."""
    lines = "".join(f"{json.dumps(case)}\n" for case in all_cases)
    environment = {**os.environ, "JAVA_HOME": str(java.find(None).home), "PYTHONPATH": ""}
    done = subprocess.run(
        [str(python_of("great_expectations")), str(ORACLE), "spark"],
        input=lines,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line)["verdicts"] for line in done.stdout.splitlines()]


@pytest.mark.soak
def test_great_expectations_agrees(quick: SparkSession) -> None:
    all_cases = list(cases())
    theirs = verdicts(all_cases)
    assert len(theirs) == len(all_cases)
    wrong, compared = [], 0
    for case, verdicts_of_case in zip(all_cases, theirs, strict=True):
        ours = answer(quick, case)["verdicts"]
        for check, our, their in zip(case["checks"], ours, verdicts_of_case, strict=True):
            compared += 1
            rows = f"{check} of {case['schema']} {case['rows']}"
            if "raised" in their:
                if our["passed"]:
                    wrong.append(f"{rows}: we say {our}, they raise {their['raised'][-200:]}")
                continue
            counts = {our["broken"], their["broken"]} - {None}
            if our["passed"] != their["passed"] or len(counts) > 1:
                wrong.append(f"{rows}: we say {our}, they say {their}")
    print(f"{compared} verdicts compared", file=sys.stderr)
    assert wrong == []


def cases_of(tool: str) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = yaml.safe_load((PEERS / f"{tool}.yaml").read_text("utf-8"))
    return read


@pytest.mark.parametrize("tool", DBT)
def test_tests_of_dbt_mean_what_their_queries_say(quick: SparkSession, tool: str) -> None:
    wrong = [
        f"{case.says}: {surprise}"
        for entry in cases_of(tool)
        for case in [Case.of(entry)]
        for surprise in surprises(case, evaluate_on_rows(quick, case))
    ]
    assert wrong == []


@pytest.mark.soak
@pytest.mark.parametrize("tool", DBT)
def test_dbt_agrees(tool: str, tmp_path: Path) -> None:
    all_cases = cases_of(tool)
    project = Project(folder=tmp_path / "project", dbt=python_of("dbt").with_name("dbt"))
    try:
        statuses = project.verdicts(all_cases)
    except NoPackages:
        pytest.skip(f"the package {tool} cannot be fetched from dbt's hub")
    wrong = [
        f"{case['says']}: {check}: expected {expected}, dbt says {statuses[number, index]}"
        for number, case in enumerate(all_cases)
        for index, (check, expected) in enumerate(zip(case["checks"], case["expect"], strict=True))
        if statuses[number, index] != ("pass" if expected else "fail")
    ]
    print(f"{len(statuses)} verdicts compared", file=sys.stderr)
    assert wrong == []
