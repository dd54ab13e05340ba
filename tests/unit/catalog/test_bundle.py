"""The catalog as files: rows out of YAML, and everything wrong with it said at once."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from goldsmith.catalog import bundle
from goldsmith.catalog.bundle import LONGEST_KEY, Bundle, export
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.retries import RetryPolicy
from goldsmith.catalog.rows import Row
from goldsmith.catalog.schema import DECLARED
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.yaml_documents import BadFiles, files_of
from seed import YAML


def load(*texts: str) -> Bundle:
    return bundle.load([(f"{number}.yaml", text) for number, text in enumerate(texts, start=1)])


def problems(*texts: str) -> list[str]:
    with pytest.raises(BadFiles) as raised:
        load(*texts)
    return [str(problem) for problem in raised.value.problems]


def snapshot(*rows: Row) -> CatalogRows:
    return CatalogRows(
        1,
        {kind.table.name: {row.key: row for row in rows if type(row) is kind} for kind in DECLARED},
    )


def test_the_seeds_yaml_is_accepted_word_for_word() -> None:
    found = load(YAML)
    assert found.size == 12
    assert {kind.table.name: len(rows) for kind, rows in found.rows.items()} == {
        "pipelines": 1,
        "stages": 3,
        "sources": 1,
        "targets": 3,
        "validation_rules": 2,
        "retry_policies": 1,
        "healing_actions": 1,
    }


def test_a_bundle_knows_where_each_row_was_said() -> None:
    found = load("targets:\n  - target_id: a\n\n  - target_id: b\n", "targets: [{target_id: c}]")
    assert found.positions == {
        ("targets", ("a",)): "1.yaml:2",
        ("targets", ("b",)): "1.yaml:4",
        ("targets", ("c",)): "2.yaml:1",
    }


def test_rows_of_several_files_and_documents_are_one_catalog() -> None:
    found = load("targets: [{target_id: a}]\n---\ntargets: [{target_id: b}]", "sources:\n")
    assert set(found.rows[Target]) == {("a",), ("b",)}
    assert found.rows[Source] == {}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("pipeline: []", "1.yaml:1: there is no table 'pipeline'; did you mean 'pipelines'?"),
        ("qqq: []", "1.yaml:1: there is no table 'qqq'"),
        ("audit_log: []", "1.yaml:1: there is no table 'audit_log'"),
        ("pipelines: {a: 1}", "1.yaml:1: 'pipelines' has to be a list of rows"),
        ("pipelines: orders", "1.yaml:1: 'pipelines' has to be a list of rows"),
        ("pipelines: [orders]", "1.yaml:1: a row of 'pipelines' has to be a mapping of columns"),
        ("- a\n- b", "1.yaml:1: a catalog file is a mapping of tables: `pipelines:`, `stages:` …"),
        ("hello", "1.yaml:1: a catalog file is a mapping of tables: `pipelines:`, `stages:` …"),
        (
            "pipelines:\n  - pipeline_id: a\n    owners: ann",
            "1.yaml:3: 'pipelines' has no column 'owners'; did you mean 'owner'?",
        ),
        (
            "pipelines:\n  - pipeline_id: a\n    zzz: 1",
            "1.yaml:3: 'pipelines' has no column 'zzz'",
        ),
        (
            "retry_policies: [{retry_id: a, is_default: true}]",
            "1.yaml:1: 'retry_policies' has no column 'is_default'",
        ),
        ("pipelines:\n  - owner: ann", "1.yaml:2: a row of 'pipelines' needs 'pipeline_id'"),
        ("pipelines: [{pipeline_id: }]", "1.yaml:1: a row of 'pipelines' needs 'pipeline_id'"),
        (
            "pipelines: [{pipeline_id: ''}]",
            "1.yaml:1: pipelines.pipeline_id has to be 1 to 255 characters long, not 0",
        ),
        (
            "pipelines: [{pipeline_id: 7}]",
            "1.yaml:1: pipelines.pipeline_id has to be text, not 7; put it in quotes",
        ),
        (
            "pipelines: [{pipeline_id: a, enabled: yes}]",
            "1.yaml:1: pipelines.enabled has to be true or false, not 'yes'",
        ),
        (
            "pipelines: [{pipeline_id: a, enabled: 1}]",
            "1.yaml:1: pipelines.enabled has to be true or false, not 1",
        ),
        (
            "pipelines: [{pipeline_id: a, criticality: critcal}]",
            "1.yaml:1: pipelines.criticality has to be one of critical, normal, low, "
            "not 'critcal'; did you mean 'critical'?",
        ),
        (
            "pipelines: [{pipeline_id: a, sla_minutes: soon}]",
            "1.yaml:1: pipelines.sla_minutes has to be a whole number, not 'soon'",
        ),
        (
            "pipelines: [{pipeline_id: a, sla_minutes: 1.5}]",
            "1.yaml:1: pipelines.sla_minutes has to be a whole number, not 1.5",
        ),
        (
            "pipelines: [{pipeline_id: a, sla_minutes: true}]",
            "1.yaml:1: pipelines.sla_minutes has to be a whole number, not True",
        ),
        (
            "pipelines: [{pipeline_id: a, sla_minutes: -1}]",
            "1.yaml:1: pipelines.sla_minutes has to be at least 0, not -1",
        ),
        (
            "pipelines: [{pipeline_id: a, sla_minutes: 9223372036854775808}]",
            "1.yaml:1: pipelines.sla_minutes is out of range: 9223372036854775808",
        ),
        (
            "retry_policies: [{retry_id: a, jitter: 2}]",
            "1.yaml:1: retry_policies.jitter has to be at most 1, not 2",
        ),
        (
            "throttles: [{throttle_id: a, threshold: 1e999}]",
            "1.yaml:1: throttles.threshold is out of range: inf",
        ),
        (
            "throttles: [{throttle_id: a, threshold: a lot}]",
            "1.yaml:1: throttles.threshold has to be a number, not 'a lot'",
        ),
        (
            "pipelines: [{pipeline_id: a, tags: {b: c}}]",
            "1.yaml:1: pipelines.tags has to be a list of names, not a mapping",
        ),
        (
            "pipelines: [{pipeline_id: a, tags: [b, 7]}]",
            "1.yaml:1: pipelines.tags has to be text, not 7; put it in quotes",
        ),
        (
            "targets: [{target_id: a, options: [b]}]",
            "1.yaml:1: targets.options has to be a mapping, not a list",
        ),
        (
            "targets: [{target_id: a, options: {b: 1e999}}]",
            "1.yaml:1: targets.options holds a number that is not finite",
        ),
        (
            'targets: [{target_id: a, options: {b: "c\\0d"}}]',
            "1.yaml:1: targets.options holds a NUL character, which no database keeps",
        ),
        (
            'targets: [{target_id: "a\\0", location: b}]',
            "1.yaml:1: targets.target_id holds a NUL character, which no database keeps",
        ),
        (
            "validation_rules: [{rule_set_id: a, check_def: {type: b}}]",
            "1.yaml:1: validation_rules.check_def has to be a list, not a mapping",
        ),
        (
            "pipelines: [{pipeline_id: a, created_at: soon}]",
            "1.yaml:1: pipelines.created_at has to be a time like 2026-01-31T08:00:00+00:00, "
            "not 'soon'",
        ),
        (
            "pipelines: [{pipeline_id: a, created_at: '0001-01-01T00:00:00+14:00'}]",
            "1.yaml:1: pipelines.created_at has to be a time like 2026-01-31T08:00:00+00:00, "
            "not '0001-01-01T00:00:00+14:00'",
        ),
        (
            "pipelines: [{pipeline_id: a, created_at: '0999-12-31'}]",
            "1.yaml:1: pipelines.created_at has to be in the years 1000 to 9998, not '0999-12-31'",
        ),
        (
            "stages: [{pipeline_id: a, stage_order: first}]",
            "1.yaml:1: stages.stage_order has to be a whole number, not 'first'",
        ),
        (
            "stages: [{pipeline_id: a, stage_order: 1, schema_policy: 7}]",
            "1.yaml:1: stages.schema_policy has to be text, not 7; put it in quotes",
        ),
        (
            "control_flags: [{entity_type: pipelines, entity_id: a, flag_name: enabled}]",
            "1.yaml:1: control_flags.entity_type has to be one of everything, pipeline, stage, "
            "source, target, not 'pipelines'; did you mean 'pipeline'?",
        ),
    ],
)
def test_what_is_wrong_is_said_with_file_line_and_the_nearest_name(text: str, says: str) -> None:
    assert problems(text) == [says]


def test_everything_wrong_in_every_file_is_said_at_once() -> None:
    first = """pipelines:
  - pipeline_id: a
    enabled: maybe
    sla_minutes: soon
  - owner: ann
    owner: bob
stage: []
"""
    assert problems(first, "targets: [1, {target_id: [a]}]", "sources: [") == [
        "1.yaml:6: 'owner' is defined twice; first in line 5",
        "1.yaml:3: pipelines.enabled has to be true or false, not 'maybe'",
        "1.yaml:4: pipelines.sla_minutes has to be a whole number, not 'soon'",
        "1.yaml:5: a row of 'pipelines' needs 'pipeline_id'",
        "1.yaml:7: there is no table 'stage'; did you mean 'stages'?",
        "2.yaml:1: a row of 'targets' has to be a mapping of columns",
        "2.yaml:1: targets.target_id has to be text, not a list; put it in quotes",
        "3.yaml:2: this is not YAML: did not find expected node content",
    ]


def test_the_same_row_in_two_files_is_said_with_both_places() -> None:
    found = problems("targets:\n  - target_id: a", "\ntargets:\n  - target_id: a\n    type: s3")
    assert found == ["2.yaml:3: targets 'a' is defined twice; first in 1.yaml:2"]


def test_the_same_row_twice_in_one_file_is_said_too() -> None:
    row = "{pipeline_id: a, stage_order: 1}"
    assert problems(f"stages:\n- {row}\n- {row}") == [
        "1.yaml:3: stages 'a/1' is defined twice; first in 1.yaml:2"
    ]


def test_a_folder_and_standard_input_are_one_catalog(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.yaml").write_text("pipelines: [{pipeline_id: a}]")
    declared = {"pipelines": [{"pipeline_id": "b😀"}], "targets": None}
    (tmp_path / "deep" / "b.json").write_text(json.dumps(declared, indent="\t"))
    stdin = io.StringIO(json.dumps({"pipelines": [{"pipeline_id": "c\U0001d538"}]}, indent="\t"))
    found = bundle.load(files_of([str(tmp_path), "-"], stdin))
    assert sorted(found.rows[Pipeline]) == [("a",), ("b😀",), ("c𝔸",)]
    assert found.positions["pipelines", ("b😀",)].endswith("b.json:3")
    assert found.positions["pipelines", ("c𝔸",)] == "<stdin>:3"


def test_a_file_that_is_not_utf_8_does_not_hide_what_is_wrong_in_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"targets: [{target_id: caf\xe9}]")
    (tmp_path / "b.yaml").write_text("target: []")
    with pytest.raises(BadFiles) as raised:
        bundle.load(files_of([str(tmp_path)], io.StringIO()))
    assert [Path(problem.file).name for problem in raised.value.problems] == ["a.yaml", "b.yaml"]


def test_every_kind_of_value_becomes_the_columns_own() -> None:
    [stage] = (
        load("""
stages:
  - pipeline_id: a
    stage_order: 1
    enabled: false
    keys: [id, " spaced "]
    partition_by: days(at), region
    stop_grace_sec: 2
    schema_policy: {columns: evolve, types: freeze}
    options: {read: all, limit: 1.5, deep: [{a: null}]}
""")
        .rows[Stage]
        .values()
    )
    assert stage == Stage(
        pipeline_id="a",
        stage_order=1,
        enabled=False,
        keys=("id", " spaced "),
        partition_by=("days(at)", "region"),
        stop_grace_sec=2.0,
        schema_policy={"columns": "evolve", "types": "freeze"},
        options={"read": "all", "limit": 1.5, "deep": [{"a": None}]},
    )


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31 08:00", datetime(2026, 1, 31, 8, tzinfo=UTC)),
        ("2026-01-31T08:00:00Z", datetime(2026, 1, 31, 8, tzinfo=UTC)),
        ("2026-01-31T10:00:00.5+02:00", datetime(2026, 1, 31, 8, 0, 0, 500_000, tzinfo=UTC)),
    ],
)
def test_times_are_read_with_their_zone_and_without_one_in_utc(text: str, means: datetime) -> None:
    row = f"{{entity_type: source, entity_id: a, flag_name: enabled, ends_at: {text!r}}}"
    [flag] = load(f"control_flags: [{row}]").rows[Flag].values()
    assert flag.ends_at == means  # type: ignore[attr-defined]


def test_an_empty_value_means_the_default() -> None:
    [policy] = (
        load("retry_policies: [{retry_id: a, max_retries: , multiplier: null}]")
        .rows[RetryPolicy]
        .values()
    )
    assert policy == RetryPolicy(retry_id="a")


def test_a_policy_in_json_is_the_mapping_it_says() -> None:
    text = """stages: [{pipeline_id: a, stage_order: 1, schema_policy: '{"columns": "freeze"}'}]"""
    [stage] = load(text).rows[Stage].values()
    assert stage.schema_policy == {"columns": "freeze"}  # type: ignore[attr-defined]


def test_the_longest_key_is_accepted_and_no_longer_one() -> None:
    assert load(f"targets: [{{target_id: {'x' * LONGEST_KEY}}}]").size == 1
    [problem] = problems(f"targets: [{{target_id: {'x' * (LONGEST_KEY + 1)}}}]")
    assert problem.endswith("has to be 1 to 255 characters long, not 256")


@pytest.mark.parametrize(
    "text",
    [
        "? {long}\n: []",
        "targets:\n- ? {long}\n  : 1\n  target_id: a",
        "pipelines:\n- pipeline_id: a\n  criticality: {long}",
        "pipelines:\n- pipeline_id: {long}",
        "pipelines:\n- pipeline_id: a\n  sla_minutes: {long}",
        "pipelines:\n- pipeline_id: a\n  created_at: {long}",
    ],
)
def test_megabytes_in_the_wrong_place_are_said_in_one_short_line(text: str) -> None:
    [problem] = problems(text.replace("{long}", "x" * 10_000_000))
    assert len(problem) < 300


#: One row of each table with something in every column that files hold.
FULL: tuple[Row, ...] = tuple(
    kind(
        **{
            column.name: {
                "text": "a word",
                "flag": False,
                "whole": 1,
                "number": 0.5,
                "moment": datetime(2026, 1, 31, 8, tzinfo=UTC),
                "list": ({"type": "row_count", "min": 1},),
                "map": {"b": [1, None, "c"], "a": True},
                "names": ("a", "b,c"),
                "policy": {"columns": "freeze"},
            }[column.kind.value]
            if not column.choices
            else column.choices[-1]
            for column in kind.table.in_files
            if not column.generated
        }
    )
    for kind in DECLARED
)


def test_every_column_of_every_table_survives_export_and_load() -> None:
    rows = snapshot(*FULL)
    found = bundle.load([("export.yaml", export(rows))])
    assert found.rows == {kind: rows.table(kind) for kind in DECLARED}
    assert export(CatalogRows(1, {k.table.name: v for k, v in found.rows.items()})) == export(rows)


def test_an_export_says_no_more_than_it_has_to() -> None:
    rows = snapshot(
        Pipeline(pipeline_id="b"),
        Pipeline(pipeline_id="a", tags=("x",), created_at=datetime(2026, 1, 31, tzinfo=UTC)),
        Target(target_id="t", options={"zeta": 1, "type": "x", "alpha": {"b": 1, "a": 2}}),
    )
    assert export(rows) == (
        "pipelines:\n- pipeline_id: a\n  tags:\n  - x\n- pipeline_id: b\n"
        "targets:\n- target_id: t\n  options:\n    type: x\n    alpha:\n      a: 2\n      b: 1\n"
        "    zeta: 1\n"
    )


def test_an_empty_catalog_is_an_empty_file() -> None:
    assert export(snapshot()) == ""
    assert load("").size == 0


def test_loading_what_somebody_else_would_hand_to_python_is_only_text() -> None:
    value: Any = load("targets: [{target_id: '{{ 7*7 }}', location: '__import__(\"os\")'}]")
    assert value.rows[Target]["{{ 7*7 }}",].location == '__import__("os")'
