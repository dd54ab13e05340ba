"""The JSON Schema that editors complete catalog files from."""

from __future__ import annotations

import pytest
import yaml
from jsonschema import Draft202012Validator

from goldsmith.catalog.bundle import load
from goldsmith.catalog.json_schema import json_schema
from goldsmith.catalog.schema import DECLARED
from goldsmith.catalog.yaml_documents import BadFiles
from seed import YAML

VALIDATOR = Draft202012Validator(json_schema())


def is_valid(text: str) -> bool:
    return VALIDATOR.is_valid(yaml.safe_load(text))


def test_the_schema_is_itself_valid() -> None:
    Draft202012Validator.check_schema(json_schema())


def test_the_schema_speaks_of_every_table_and_describes_every_column() -> None:
    tables = json_schema()["properties"]
    assert list(tables) == [kind.table.name for kind in DECLARED]
    for kind in DECLARED:
        columns = tables[kind.table.name]["items"]["properties"]
        assert list(columns) == [column.name for column in kind.table.in_files]
        assert all(column["description"] for column in columns.values())


def test_the_seeds_yaml_fits_the_schema() -> None:
    assert list(VALIDATOR.iter_errors(yaml.safe_load(YAML))) == []


@pytest.mark.parametrize(
    "text",
    [
        "pipelines:",
        "pipelines: []",
        "pipelines: [{pipeline_id: a, owner: }]",
        "pipelines: [{pipeline_id: a, tags: 'b, c'}]",
        "pipelines: [{pipeline_id: a, tags: [b, c]}]",
        "pipelines: [{pipeline_id: a, criticality: low}]",
        "pipelines: [{pipeline_id: a, criticality: }]",
        "stages: [{pipeline_id: a, stage_order: 1, schema_policy: freeze}]",
        "stages: [{pipeline_id: a, stage_order: 1, schema_policy: {types: freeze}}]",
        "throttles: [{throttle_id: a, threshold: 1}, {throttle_id: b, threshold: 1.5}]",
    ],
)
def test_what_we_accept_fits_the_schema(text: str) -> None:
    assert is_valid(text)
    load([("a.yaml", text)])


@pytest.mark.parametrize(
    "text",
    [
        "pipeline: []",
        "pipelines: {}",
        "pipelines: [a]",
        "pipelines: [{}]",
        "pipelines: [{pipeline_id: a, owners: b}]",
        "pipelines: [{pipeline_id: ''}]",
        "pipelines: [{pipeline_id: 7}]",
        "pipelines: [{pipeline_id: }]",
        f"pipelines: [{{pipeline_id: {'x' * 256}}}]",
        "pipelines: [{pipeline_id: a, enabled: 'yes'}]",
        "pipelines: [{pipeline_id: a, criticality: urgent}]",
        "pipelines: [{pipeline_id: a, sla_minutes: 1.5}]",
        "pipelines: [{pipeline_id: a, sla_minutes: -1}]",
        "pipelines: [{pipeline_id: a, tags: [1]}]",
        "stages: [{pipeline_id: a}]",
        "retry_policies: [{retry_id: a, jitter: 2}]",
        "retry_policies: [{retry_id: a, is_default: true}]",
        "targets: [{target_id: a, options: []}]",
        "validation_rules: [{rule_set_id: a, check_def: {type: b}}]",
    ],
)
def test_what_we_refuse_does_not_fit_the_schema(text: str) -> None:
    assert not is_valid(text)
    with pytest.raises(BadFiles):
        load([("a.yaml", text)])


def test_defaults_in_the_schema_are_the_ones_that_hold() -> None:
    tables = json_schema()["properties"]
    for kind in DECLARED:
        columns = tables[kind.table.name]["items"]["properties"]
        for column in kind.table.in_files:
            if column.default is not None:
                assert columns[column.name]["default"] == column.default
