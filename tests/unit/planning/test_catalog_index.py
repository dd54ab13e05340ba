"""A survey made from the one before is the survey made anew, whatever changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.edges import Edge
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.profiles import PipelineProfile
from goldsmith.catalog.retries import HealingAction, HealingStep, RetryPolicy
from goldsmith.catalog.rows import Row
from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.schema import DECLARED
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.throttles import Throttle
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.sql import SqlReader

# Few names, so that rows have to do with each other.
datasets = st.sampled_from(["a", "b", "c", "lake.d"])
maybe_dataset = st.none() | datasets
pipelines = st.sampled_from(["p", "q"])
orders = st.integers(1, 2)
rule_sets = st.sampled_from(["r", "s"])
retries = st.sampled_from(["once", "twice"])
sqls = st.sampled_from(
    [
        None,
        "SELECT * FROM a",
        "SELECT a.x, now() AS t FROM a JOIN lake.d USING (x)",
        "SELECT b.x, count(*) AS n FROM b, c GROUP BY b.x",
        "INSERT INTO b SELECT x FROM nowhere",
        "SELECT FROM (",
    ]
)


def rows_like(kind: type[Row], **columns: st.SearchStrategy[Any]) -> st.SearchStrategy[Row]:
    return st.builds(kind, **columns)


any_row: st.SearchStrategy[Row] = st.one_of(
    rows_like(
        Stage,
        pipeline_id=pipelines,
        stage_order=orders,
        stage_name=st.sampled_from([None, "load", "clean"]),
        source_id=maybe_dataset,
        target_id=maybe_dataset,
        validation_set_id=st.none() | rule_sets,
        enabled=st.booleans(),
        transform_sql=sqls,
        write_mode=st.sampled_from([None, "append", "overwrite", "merge", "scd2"]),
        keys=st.sampled_from([(), ("x",)]),
        retry_id=st.none() | retries,
    ),
    rows_like(
        Pipeline,
        pipeline_id=pipelines,
        enabled=st.booleans(),
        default_retry_id=st.none() | retries,
        schedule=st.sampled_from([None, "every 15m", "after: p", "after: q", "never"]),
    ),
    rows_like(
        Source,
        source_id=datasets,
        s3_path=st.sampled_from([None, "s3://x/a/", "s3://x/a/b/"]),
        file_format=st.sampled_from([None, "csv", "stone"]),
    ),
    rows_like(
        Target,
        target_id=datasets,
        location=st.sampled_from([None, "s3://x/a/", "x.b"]),
        type=st.sampled_from([None, "s3", "redshift", "tape"]),
    ),
    rows_like(
        Edge,
        from_dataset_id=datasets,
        to_dataset_id=datasets,
        transformation_sql=sqls,
    ),
    rows_like(
        RuleSet,
        rule_set_id=rule_sets,
        check_def=st.sampled_from([(), ({"type": "row_count", "min": 1},), ({"type": "odd"},)]),
    ),
    rows_like(RetryPolicy, retry_id=retries, max_retries=st.integers(0, 1)),
    rows_like(
        Flag,
        entity_type=st.sampled_from(["pipeline", "stage", "source"]),
        entity_id=st.sampled_from(["p", "p-1", "a", "x"]),
        flag_name=st.sampled_from(["enabled", "odd"]),
    ),
    rows_like(
        Throttle,
        throttle_id=st.just("t"),
        entity_type=st.sampled_from([None, "source", "target"]),
        entity_id=maybe_dataset,
        metric=st.sampled_from([None, "records_per_minute", "odd"]),
        threshold=st.sampled_from([None, 0.0, 5.0]),
    ),
    rows_like(
        HealingAction,
        error_code=st.sampled_from(["E", "F"]),
        action_script=st.sampled_from([None, "retry_later", "fix.sh"]),
    ),
    rows_like(
        HealingStep,
        error_code=st.sampled_from(["E", "F"]),
        step_order=st.integers(2, 3),
        action_script=st.sampled_from([None, "retry_later"]),
    ),
    rows_like(PipelineProfile, pipeline_id=pipelines, profile_id=st.sampled_from([None, "focus"])),
)
#: A change of some rows at once: put, or taken away.
edits = st.lists(st.tuples(st.booleans(), any_row), min_size=1, max_size=4)

EMPTY = CatalogRows(0, {kind.table.name: {} for kind in DECLARED})


def edited(rows: CatalogRows, changes: list[tuple[bool, Row]]) -> CatalogRows:
    """The next snapshot, sharing what did not change, as a refresh makes it."""
    tables = dict(rows.tables)
    for put, row in changes:
        table = dict(tables[row.table.name])
        if put:
            table[row.key] = row
        else:
            table.pop(row.key, None)
        tables[row.table.name] = table
    return CatalogRows(rows.revision + 1, tables)


def anew(rows: CatalogRows) -> CatalogIndex:
    return CatalogIndex(rows, SqlReader(rows.dataset_ids))


def neighbourhoods(catalog_index: CatalogIndex) -> dict[str, dict[str, object]]:
    """Each stage with the rows around it, as values."""
    return {
        name: {
            "stage": context.stage,
            "pipeline": context.pipeline,
            "edge": context.edge,
            "words": context.resolved,
            "facts": context.facts,
            "target": context.target,
            "inputs": context.inputs,
            "rules": (context.rules, context.pre_rules),
            "retry": context.retry,
            "depends_on": sorted(context.depends_on(), key=repr),
        }
        for name, context in catalog_index.stages.items()
    }


def assert_same(found: CatalogIndex, expected: CatalogIndex) -> None:
    assert neighbourhoods(found) == neighbourhoods(expected)
    assert found.upstream == expected.upstream
    assert found.order == expected.order
    assert sorted(found.findings, key=repr) == sorted(expected.findings, key=repr)
    assert {row: sorted(names) for row, names in found.dependents.items() if names} == {
        row: sorted(names) for row, names in expected.dependents.items()
    }


@settings(max_examples=300, deadline=None)
@given(changes=st.lists(edits, min_size=1, max_size=6), looks_between=st.booleans())
def test_after_any_changes_a_survey_is_the_one_made_anew(
    changes: list[list[tuple[bool, Row]]], looks_between: bool
) -> None:
    rows = EMPTY
    catalog_index = anew(rows)
    for change in changes:
        rows = edited(rows, change)
        catalog_index = catalog_index.after(rows)
        if looks_between:  # what somebody asked about is kept, and must still be right after
            assert_same(catalog_index, anew(rows))
    assert_same(catalog_index, anew(rows))


def stage(pipeline: str, order: int, source: str | None, target: str | None, **more: Any) -> Stage:
    return Stage(
        pipeline_id=pipeline, stage_order=order, source_id=source, target_id=target, **more
    )


CHAIN = edited(
    EMPTY,
    [
        (True, Pipeline(pipeline_id="p")),
        (True, stage("p", 1, "a", "b")),
        (True, stage("p", 2, "b", "c")),
        (True, Source(source_id="a", s3_path="s3://x/a/", file_format="csv")),
        (True, Target(target_id="b", location="s3://x/b/", type="s3")),
        (True, Target(target_id="c", location="s3://x/c/", type="s3")),
    ],
)


def test_a_survey_of_the_same_snapshot_is_the_same_survey() -> None:
    catalog_index = anew(CHAIN)
    assert catalog_index.after(CHAIN) is catalog_index


def test_only_stages_around_a_changed_row_are_looked_at_again() -> None:
    before = anew(CHAIN)
    after = before.after(
        edited(CHAIN, [(True, Target(target_id="c", location="s3://x/c2/", type="s3"))])
    )
    assert after.stages["p-1"] is before.stages["p-1"]
    assert after.stages["p-2"] is not before.stages["p-2"]


def test_a_changed_description_keeps_the_order_that_was_worked_out() -> None:
    before = anew(CHAIN)
    assert before.order == ("p-1", "p-2")
    after = before.after(edited(CHAIN, [(True, Pipeline(pipeline_id="p", description="new"))]))
    assert after.order is before.order
    assert after.upstream is before.upstream


@pytest.mark.parametrize(
    ("change", "order"),
    [
        pytest.param(
            [(True, stage("a", 1, "c", "z"))], ("p-1", "p-2", "a-1"), id="a reader is added"
        ),
        pytest.param(
            [(True, stage("z", 1, None, "a"))], ("z-1", "p-1", "p-2"), id="a writer is added"
        ),
        pytest.param([(False, stage("p", 1, None, None))], ("p-2",), id="a writer is removed"),
    ],
)
def test_the_order_follows_the_rows(change: list[tuple[bool, Row]], order: tuple[str, ...]) -> None:
    rows = edited(CHAIN, change)
    assert anew(CHAIN).after(rows).order == anew(rows).order == order


def test_a_circle_is_gone_through_once() -> None:
    rows = edited(CHAIN, [(True, stage("p", 1, "c", "b"))])
    assert anew(CHAIN).after(rows).order == anew(rows).order
    assert sorted(anew(rows).order) == ["p-1", "p-2"]
    assert "Cycle" in {finding.code for finding in anew(rows).errors}


def test_findings_come_errors_first() -> None:
    rows = edited(CHAIN, [(True, stage("p", 3, None, None)), (True, RuleSet(rule_set_id="unused"))])
    gravities = [finding.gravity.value for finding in anew(rows).findings]
    assert gravities == sorted(gravities)
    assert set(gravities) == {"error", "warning"}
