"""What is exported is loaded by the tools themselves, each in an environment of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from goldsmith.checks.exchange import dbt, great_expectations
from oracles.environments import python_of
from unit.checks.test_exchange import RULES

LOAD_SUITE = """
import json, sys
from great_expectations.core.expectation_suite import ExpectationSuite
suite = ExpectationSuite(**json.load(open(sys.argv[1])))
print(json.dumps([one.configuration.to_json_dict() for one in suite.expectations]))
"""
PROJECT = """
name: goldsmith_export
version: "1.0"
profile: goldsmith_export
"""
PROFILES = """
goldsmith_export:
  target: dev
  outputs:
    dev: {type: duckdb, path: ":memory:"}
"""


@pytest.mark.soak
def test_great_expectations_loads_an_exported_suite_and_ours_reads_it_back(tmp_path: Path) -> None:
    python = str(python_of("great_expectations"))
    suite, left = great_expectations.suite_of("orders", RULES)
    assert left == []
    file = tmp_path / "suite.json"
    file.write_text(json.dumps(suite))
    done = subprocess.run(
        [python, "-c", LOAD_SUITE, str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert [expectation["type"] for expectation in loaded] == [
        expectation["type"] for expectation in suite["expectations"]
    ]
    back, unknown = great_expectations.checks_of({"expectations": loaded})
    assert unknown == []
    assert [check["type"] for check in back] == [check["type"] for check in RULES]


@pytest.mark.soak
def test_dbt_parses_exported_tests(tmp_path: Path) -> None:
    python = python_of("dbt")
    reference = {"type": "referential", "column": "customer", "to": "customers", "field": "id"}
    schema, left = dbt.schema_of("orders", [*RULES[:2], RULES[3], reference])
    assert left == []
    (tmp_path / "models").mkdir()
    for model in ("orders", "customers"):
        (tmp_path / "models" / f"{model}.sql").write_text("select 1 as id")
    (tmp_path / "models" / "schema.yml").write_text(yaml.safe_dump(schema))
    (tmp_path / "dbt_project.yml").write_text(PROJECT)
    (tmp_path / "profiles.yml").write_text(PROFILES)
    dbt_command = python.with_name("dbt")
    done = subprocess.run(
        [str(dbt_command), "ls", "--resource-type", "test", "--profiles-dir", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum("orders" in line for line in done.stdout.splitlines()) >= 4
