"""Each finding says what its case file says, of those rows and of no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.defaults import shipped
from goldsmith.catalog.edges import Edge
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity import check
from goldsmith.planning.integrity.finding import Finding, FindingSeverity, Rule
from goldsmith.planning.integrity.known import DIALECTS, did_you_mean
from seed import YAML
from unit.planning.rows import neighbourhoods, rows_of, snapshot

CASES = Path(__file__).parents[2] / "cases" / "findings"


def cases() -> list[Any]:
    return [
        pytest.param(file.stem, case, id=f"{file.stem}: {case['says']}")
        for file in sorted(CASES.glob("*.yaml"))
        for case in yaml.safe_load(file.read_text("utf-8"))
    ]


@pytest.mark.parametrize(("name", "case"), cases())
def test_a_finding_is_made_of_these_rows(name: str, case: dict[str, Any]) -> None:
    found = look(check.FINDINGS.get(name), snapshot(rows_of(case["rows"])))
    wanted = list(case["found"])
    for finding in found:
        fits = next((expected for expected in wanted if matches(expected, finding)), None)
        assert fits is not None, f"not expected: {finding}"
        wanted.remove(fits)
        assert finding.hint
    assert not wanted, f"not found; found were {found}"


def look(rule: Rule, rows: CatalogRows) -> list[Finding]:
    stages = neighbourhoods(rows)
    if rule.is_graph:
        return rule.findings(rows, stages)
    if rule.reads is not None:
        return rule.findings(rows)
    return [finding for context in stages.values() for finding in rule.findings(context)]


def matches(expected: dict[str, str], finding: Finding) -> bool:
    return (
        (expected["table"], expected["key"]) == (finding.table, finding.key)
        and expected["contains"] in finding.sentence
        and expected.get("hint", "") in finding.hint
    )


def everything(rows: CatalogRows) -> list[Finding]:
    stages = neighbourhoods(rows)
    found = [f for several in check.stage_findings(list(stages.values())).values() for f in several]
    return found + check.catalog_findings(rows) + check.graph_findings(rows, stages)


def seed_rows() -> list[Any]:
    """The shipped rows, the seed's YAML over them, then its four statements."""
    arn = "arn:aws:glue:us\u2011west\u20112:123456789012:schema/silver_user_events"
    gold = "analytics.daily_user_events"
    return [
        *shipped(),
        *rows_of(yaml.safe_load(YAML)),
        Source(
            source_id="silver_user_events",
            s3_path="s3://company/silver/user_events/",
            file_format="parquet",
            schema_arn=arn,
        ),
        Target(target_id=gold, location=gold, type="redshift"),
        # The third statement does nothing: the YAML has a stage 3 already.
        Edge(
            from_dataset_id="silver_user_events",
            to_dataset_id=gold,
            transform_name="daily_aggregate",
        ),
    ]


def test_the_shipped_rows_alone_leave_no_finding() -> None:
    assert everything(snapshot(shipped())) == []


def test_the_seeds_yaml_leaves_no_finding() -> None:
    assert everything(snapshot([*shipped(), *rows_of(yaml.safe_load(YAML))])) == []


def test_the_seeds_yaml_and_statements_leave_warnings_only() -> None:
    found = everything(snapshot(seed_rows()))
    assert {(finding.code, finding.gravity) for finding in found} == {
        ("EdgeRunsNothing", FindingSeverity.WARNING),
        ("OverlappingLocations", FindingSeverity.WARNING),
        ("TypographicCharacters", FindingSeverity.WARNING),
    }


def test_the_seeds_statements_alone_would_leave_warnings_only_too() -> None:
    gold = "analytics.daily_user_events"
    rows = [
        replace(row, target_id=gold) if getattr(row, "stage_order", 0) == 3 else row
        for row in seed_rows()
        if getattr(row, "target_id", "") != "redshift_daily_agg" or hasattr(row, "stage_order")
    ]
    assert {finding.code for finding in everything(snapshot(rows))} == {"TypographicCharacters"}


def test_a_secret_is_never_repeated() -> None:
    for case in yaml.safe_load((CASES / "secret_in_plain_text.yaml").read_text("utf-8")):
        for finding in everything(snapshot(rows_of(case["rows"]))):
            if finding.code == "SecretInPlainText":
                shown = f"{finding.sentence} {finding.hint}"
                assert "abc123" not in shown
                assert "hunter2" not in shown
                assert "AKIA" not in shown


def test_the_known_dialects_are_sqlglots_own() -> None:
    from sqlglot.dialects.dialect import Dialects

    assert set(DIALECTS) == {dialect.value for dialect in Dialects if dialect.value}


def test_the_nearest_of_many_names_is_found_quickly() -> None:
    known = frozenset(f"silver_orders_{number:05}" for number in range(40_000)) | {"gold_totals"}
    assert did_you_mean("gold_total", known) == "Did you mean 'gold_totals'? "
    assert did_you_mean("sliver_orders_31415", known) == "Did you mean 'silver_orders_31415'? "
    assert did_you_mean("silver_orders_3141", known).startswith("Did you mean 'silver_orders_3")
    assert did_you_mean("x" * 1_000_000, known) == ""
    assert did_you_mean("quite another thing", known) == ""


@pytest.mark.parametrize("odd", ["", " ", "\x00", "'; DROP TABLE stages; --", "𝔘𝔫𝔦", "a" * 100_000])
def test_odd_words_in_every_column_end_in_findings(odd: str) -> None:
    tables = {
        "pipelines": [{"pipeline_id": odd, "default_retry_id": odd, "schedule": odd}],
        "stages": [
            {
                "pipeline_id": odd,
                "stage_order": 1,
                "stage_name": odd,
                "source_id": odd,
                "target_id": odd,
                "validation_set_id": odd,
                "transform_sql": odd,
                "transform_dialect": odd,
                "keys": [odd],
                "partition_by": [odd],
                "watermark_column": odd,
                "schema_policy": odd,
                "options": {odd: odd, "read": odd, "rename": odd, "add_columns": odd},
            },
            {"pipeline_id": "p", "stage_order": 1, "schema_policy": {odd: [odd]}},
        ],
        "sources": [{"source_id": odd, "s3_path": odd, "file_format": odd, "options": {odd: odd}}],
        "targets": [{"target_id": odd, "location": odd, "type": odd, "options": {odd: [odd]}}],
        "validation_rules": [
            {"rule_set_id": odd, "check_def": [odd, {odd: odd}, {"type": odd}, 1, None, [odd]]},
            {"rule_set_id": "r", "check_def": [{"type": "regex", "pattern": odd, odd: odd}]},
        ],
        "control_flags": [
            {"entity_type": scope, "entity_id": odd, "flag_name": odd}
            for scope in ("everything", "pipeline", "stage", "source")
        ],
        "healing_actions": [
            {"error_code": odd, "action_script": odd, "settings": {"then": odd, odd: odd}}
        ],
        "throttles": [{"throttle_id": odd, "entity_type": "source", "entity_id": odd}],
        "dataset_lineage": [{"from_dataset_id": odd, "to_dataset_id": "x"}],
        "dataset_recovery_paths": [{"dataset_id": odd, "path_order": 1, "path_sequence": odd}],
        "pipeline_profiles": [{"pipeline_id": odd, "profile_id": odd}],
        "profile_settings": [{"profile_id": odd, "setting_key": odd}],
    }
    assert everything(snapshot(rows_of(tables)))
