"""The tool an alias comes from gives the same verdict on the same rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from pyspark import __version__ as spark_version
from pyspark.sql import SparkSession

from goldsmith.checks.trying import answer
from goldsmith.engine import java
from oracles.cases_of_great_expectations import cases

PROGRAM = Path(__file__).parents[2] / "oracles" / "great_expectations_says.py"
PACKAGES = ("great_expectations>=1.9,<2", "pandas", f"pyspark=={spark_version}")


@pytest.fixture(scope="session")
def great_expectations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its own environment, made for this run."""
    folder = tmp_path_factory.mktemp("peers") / "great_expectations"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", *PACKAGES]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"Great Expectations cannot be installed: {done.stderr.strip()[-300:]}")
    return python


def verdicts(python: Path, asked: list[dict[str, Any]]) -> list[Any]:
    """What Great Expectations says on Spark."""
    told = "".join(f"{json.dumps(case)}\n" for case in asked)
    environment = {**os.environ, "JAVA_HOME": str(java.find(None).home), "PYTHONPATH": ""}
    done = subprocess.run(
        [str(python), str(PROGRAM), "spark"],
        input=told,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line)["verdicts"][0] for line in done.stdout.splitlines()]


@pytest.mark.soak
def test_great_expectations_agrees(quick: SparkSession, great_expectations: Path) -> None:
    asked = list(cases())
    theirs = verdicts(great_expectations, asked)
    assert len(theirs) == len(asked)
    wrong = []
    for case, their in zip(asked, theirs, strict=True):
        if "raised" in their:
            continue
        our = answer(quick, case)["verdicts"][0]
        same_count = None in (our["broken"], their["broken"]) or our["broken"] == their["broken"]
        if our["passed"] != their["passed"] or not same_count:
            wrong.append(f"{case}: we say {our}, they say {their}")
    print(f"{len(asked)} verdicts compared", file=sys.stderr)
    assert wrong == []
