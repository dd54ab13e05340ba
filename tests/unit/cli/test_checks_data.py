"""`checks export|import|history` and `quarantine list`, which need no Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.rules import RuleSet
from goldsmith.cli.main import goldsmith
from goldsmith.engine.audit.dataset_audit import UnknownRuleSet
from goldsmith.journal import row_storage
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Verdict

RULES = ({"type": "not_null", "column": "id"}, {"type": "volume_anomaly"})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    assert CliRunner().invoke(goldsmith, ["init", str(folder)]).exit_code == 0
    opened = Catalog.open(f"sqlite:///{folder / '.goldsmith' / 'catalog.db'}")
    with opened.change(actor="ann") as change:
        change.put([RuleSet(rule_set_id="orders_rules", check_def=RULES)])
    journal = Journal(opened.engine)
    with journal.writing() as connection:
        for number, passed in enumerate((True, False)):
            given = Verdict(
                stage_run_id="try-1",
                place=number,
                dataset_id="orders",
                check_name="not_null",
                passed=passed,
                message="it holds" if passed else "id is null",
            )
            row_storage.insert(connection, given)
    opened.close()
    return folder


def ask(project: Path, *arguments: str) -> Any:
    done = CliRunner().invoke(goldsmith, ["--project", str(project), *arguments, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_rule_set_goes_to_another_tool_and_back(project: Path, tmp_path: Path) -> None:
    suite = ask(project, "checks", "export", "orders_rules", "--to", "great-expectations")
    assert [expectation["type"] for expectation in suite["expectations"]] == [
        "expect_column_values_to_not_be_null"
    ]
    file = tmp_path / "suite.json"
    file.write_text(json.dumps(suite))
    back = ask(project, "checks", "import", str(file))
    (row,) = back["validation_rules"]
    assert row["rule_set_id"] == "orders_rules"
    assert row["check_def"][0] == {"type": "not_null", "column": "id", "severity": "critical"}

    arguments = ["--project", str(project), "checks", "export", "orders_rules", "--to", "dbt"]
    exported = CliRunner().invoke(goldsmith, arguments)
    assert "volume_anomaly" in exported.stderr
    assert yaml.safe_load(exported.stdout)["models"][0]["columns"][0]["data_tests"] == ["not_null"]


def test_a_rule_set_nobody_knows_is_told_with_the_known_ones(project: Path) -> None:
    arguments = ["--project", str(project), "checks", "export", "nothing", "--to", "dbt"]
    done = CliRunner().invoke(goldsmith, arguments)
    assert isinstance(done.exception, UnknownRuleSet)
    assert "orders_rules" in done.exception.hint


def test_verdicts_are_listed_and_an_empty_quarantine_too(project: Path) -> None:
    assert len(ask(project, "checks", "history", "orders")) == 2
    (failed,) = ask(project, "checks", "history", "--failed")
    assert failed["message"] == "id is null"
    assert ask(project, "quarantine", "list") == []
