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
from goldsmith.engine.resting import UnknownRuleSet
from goldsmith.journal import stored
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
        for place, passed in enumerate((True, False)):
            given = Verdict(
                stage_run_id="try-1",
                place=place,
                dataset_id="orders",
                check_name="not_null",
                passed=passed,
                message="it holds" if passed else "id is null",
            )
            stored.insert(connection, given)
    opened.close()
    return folder


def ask(project: Path, *words: str) -> Any:
    done = CliRunner().invoke(goldsmith, ["--project", str(project), *words, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_rule_set_goes_to_another_tool_and_back(project: Path, tmp_path: Path) -> None:
    suite = ask(project, "checks", "export", "orders_rules", "--to", "great-expectations")
    assert [one["type"] for one in suite["expectations"]] == ["expect_column_values_to_not_be_null"]
    file = tmp_path / "suite.json"
    file.write_text(json.dumps(suite))
    back = ask(project, "checks", "import", str(file))
    (row,) = back["validation_rules"]
    assert row["rule_set_id"] == "orders_rules"
    assert row["check_def"][0] == {"type": "not_null", "column": "id", "severity": "critical"}

    words = ["--project", str(project), "checks", "export", "orders_rules", "--to", "dbt"]
    told = CliRunner().invoke(goldsmith, words)
    assert "volume_anomaly" in told.stderr
    assert yaml.safe_load(told.stdout)["models"][0]["columns"][0]["data_tests"] == ["not_null"]


def test_a_rule_set_nobody_knows_is_told_with_the_known_ones(project: Path) -> None:
    words = ["--project", str(project), "checks", "export", "nothing", "--to", "dbt"]
    done = CliRunner().invoke(goldsmith, words)
    assert isinstance(done.exception, UnknownRuleSet)
    assert "orders_rules" in done.exception.hint


def test_verdicts_are_listed_and_an_empty_quarantine_too(project: Path) -> None:
    assert len(ask(project, "checks", "history", "orders")) == 2
    (failed,) = ask(project, "checks", "history", "--failed")
    assert failed["message"] == "id is null"
    assert ask(project, "quarantine", "list") == []
