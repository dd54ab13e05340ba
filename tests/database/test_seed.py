"""The seed's YAML and statements give the same rows on both databases."""

from __future__ import annotations

from typing import Any

import pytest

from goldsmith.catalog import bundle, defaults
from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.edges import Edge
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.profiles import Profile, ProfileSetting
from goldsmith.catalog.retries import HealingAction, HealingStep, RetryPolicy
from goldsmith.catalog.rows import Row, by_key
from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.schema import DECLARED
from goldsmith.planning import apply_files
from goldsmith.planning.catalog_indexer import CatalogIndexer
from plain_sql import PlainSql
from seed import STATEMENTS, YAML

#: Every row of the YAML, each column that is not at its default spelt out.
DECLARED_ROWS: tuple[Row, ...] = (
    Pipeline(
        pipeline_id="user_events_etl",
        description="Ingest user events → aggregate daily metrics",
        default_retry_id="std_retry",
    ),
    Stage(
        pipeline_id="user_events_etl",
        stage_order=1,
        stage_name="bronze_ingest",
        source_id="user_events_raw",
        target_id="bronze_user_events",
        validation_set_id="not_empty",
    ),
    Stage(
        pipeline_id="user_events_etl",
        stage_order=2,
        stage_name="silver_clean",
        source_id="bronze_user_events",
        target_id="silver_user_events",
        validation_set_id="schema_match",
    ),
    Stage(
        pipeline_id="user_events_etl",
        stage_order=3,
        stage_name="gold_aggregate",
        source_id="silver_user_events",
        target_id="redshift_daily_agg",
        validation_set_id="row_count_gt0",
    ),
    Source(
        source_id="user_events_raw",
        s3_path="s3://company/raw/user_events/",
        file_format="jsonl",
        schema_arn="arn:aws:glue:...:schema/user_events",
    ),
    Target(target_id="bronze_user_events", location="s3://company/bronze/user_events/", type="s3"),
    Target(target_id="silver_user_events", location="s3://company/silver/user_events/", type="s3"),
    Target(target_id="redshift_daily_agg", location="analytics.daily_user_events", type="redshift"),
    RuleSet(rule_set_id="not_empty", check_def=({"type": "row_count", "min": 1},)),
    RuleSet(
        rule_set_id="schema_match",
        check_def=({"type": "schema_evolution", "allow_nullable_addition": False},),
    ),
    RetryPolicy(retry_id="std_retry", max_retries=3, backoff_sec=300, is_default=True),
    HealingAction(
        error_code="SchemaMismatch",
        action_script="arn:aws:lambda:...:schema_migration_handler",
    ),
)

#: What the four statements add. The stage is there already, so its statement does nothing.
TYPED_ROWS: tuple[Row, ...] = (
    Source(
        source_id="silver_user_events",
        s3_path="s3://company/silver/user_events/",
        file_format="parquet",
        schema_arn="arn:aws:glue:us‑west‑2:123456789012:schema/silver_user_events",
    ),
    Target(
        target_id="analytics.daily_user_events",
        location="analytics.daily_user_events",
        type="redshift",
    ),
    Edge(
        from_dataset_id="silver_user_events",
        to_dataset_id="analytics.daily_user_events",
        transform_name="daily_aggregate",
    ),
)


def apply_seed(catalog_indexer: CatalogIndexer) -> None:
    declared = bundle.load([("seed.yaml", YAML)])
    proposal = apply_files.propose(catalog_indexer, declared)
    apply_files.apply(catalog_indexer, declared, proposal, actor="ann", reason="the seed")


def rows_of(catalog: Catalog) -> dict[tuple[str, tuple[Any, ...]], Row]:
    """Every row by table and key, without the moment it was made at."""
    rows = catalog.snapshot()
    return {
        (kind.table.name, key): row.with_(created_at=None) if kind is Pipeline else row
        for kind in DECLARED
        for key, row in rows.table(kind).items()
    }


def expected(*rows: Row) -> dict[tuple[str, tuple[Any, ...]], Row]:
    """The shipped rows with these put over them."""
    return {(row.table.name, row.key): row for row in (*defaults.shipped(), *rows)}


def test_the_seeds_yaml_gives_these_rows(catalog: Catalog, catalog_indexer: CatalogIndexer) -> None:
    apply_seed(catalog_indexer)
    assert rows_of(catalog) == expected(*DECLARED_ROWS)


def test_the_seeds_statements_run_after_the_yaml_and_add_these_rows(
    catalog: Catalog, catalog_indexer: CatalogIndexer, plain: PlainSql
) -> None:
    apply_seed(catalog_indexer)
    for statement in STATEMENTS:
        plain.run(statement)
    assert rows_of(catalog) == expected(*DECLARED_ROWS, *TYPED_ROWS)


def test_the_seeds_statements_run_twice_change_nothing_the_second_time(
    catalog: Catalog, plain: PlainSql
) -> None:
    for statement in STATEMENTS:
        plain.run(statement)
    once, revision = rows_of(catalog), catalog.revision()
    for statement in STATEMENTS:
        plain.run(statement)
    assert rows_of(catalog) == once
    assert catalog.revision() == revision


def test_the_seeds_statements_alone_give_a_complete_stage(
    catalog: Catalog, plain: PlainSql
) -> None:
    for statement in STATEMENTS:
        plain.run(statement)
    assert catalog.snapshot().get(Stage, "user_events_etl", 3) == Stage(
        pipeline_id="user_events_etl",
        stage_order=3,
        stage_name="gold_aggregate",
        source_id="silver_user_events",
        target_id="analytics.daily_user_events",
        validation_set_id="row_count_gt0",
        enabled=True,
    )


def test_the_seeds_yaml_and_statements_leave_no_errors_of_integrity(
    catalog_indexer: CatalogIndexer, plain: PlainSql
) -> None:
    apply_seed(catalog_indexer)
    for statement in STATEMENTS:
        plain.run(statement)
    assert catalog_indexer.catalog_index().errors == ()


#: Only the seed's columns, as its CREATE TABLE statements name them.
SEED_COLUMNS = {
    Pipeline: (
        "INSERT INTO pipelines (pipeline_id, description, enabled, default_retry_id)"
        " VALUES ('orders', 'Orders', TRUE, 'std_retry')",
        Pipeline(pipeline_id="orders", description="Orders", default_retry_id="std_retry"),
    ),
    Stage: (
        "INSERT INTO stages (pipeline_id, stage_order, stage_name, source_id, target_id,"
        " validation_set_id, enabled) VALUES ('orders', 1, 'load', 'raw', 'bronze', NULL, FALSE)",
        Stage(
            pipeline_id="orders",
            stage_order=1,
            stage_name="load",
            source_id="raw",
            target_id="bronze",
            enabled=False,
        ),
    ),
    Source: (
        "INSERT INTO sources (source_id, s3_path, file_format, schema_arn)"
        " VALUES ('raw', 's3://shop/raw/', 'csv', NULL)",
        Source(source_id="raw", s3_path="s3://shop/raw/", file_format="csv"),
    ),
    Target: (
        "INSERT INTO targets (target_id, location, type)"
        " VALUES ('bronze', 's3://shop/bronze/', 's3')",
        Target(target_id="bronze", location="s3://shop/bronze/", type="s3"),
    ),
    RuleSet: (
        "INSERT INTO validation_rules (rule_set_id, description, check_def)"
        """ VALUES ('some', 'Some rows', '[{"type": "row_count", "min": 1}]')""",
        RuleSet(
            rule_set_id="some",
            description="Some rows",
            check_def=({"type": "row_count", "min": 1},),
        ),
    ),
    RetryPolicy: (
        "INSERT INTO retry_policies (retry_id, max_retries, backoff_sec) VALUES ('twice', 2, 60)",
        RetryPolicy(retry_id="twice", max_retries=2, backoff_sec=60),
    ),
    HealingAction: (
        "INSERT INTO healing_actions (error_code, action_script) VALUES ('Odd', 'fix.sh')",
        HealingAction(error_code="Odd", action_script="fix.sh"),
    ),
    Flag: (
        "INSERT INTO control_flags (entity_type, entity_id, flag_name, flag_value)"
        " VALUES ('pipeline', 'orders', 'enabled', FALSE)",
        Flag(entity_type="pipeline", entity_id="orders", flag_name="enabled", flag_value=False),
    ),
}


@pytest.mark.parametrize("kind", SEED_COLUMNS, ids=lambda kind: kind.table.name)
def test_a_row_with_only_the_seeds_columns_is_complete(
    kind: type[Row], catalog: Catalog, plain: PlainSql
) -> None:
    statement, row = SEED_COLUMNS[kind]
    plain.run(statement)
    found = catalog.snapshot().get(kind, *row.key)
    assert found is not None
    made = {name: None for name in ("created_at", "updated_at") if name in row.table.by_name}
    assert all(getattr(found, name) is not None for name in made)
    assert found.with_(**made) == row


def test_a_fresh_catalog_has_every_shipped_row_marked_as_such(catalog: Catalog) -> None:
    rows = catalog.snapshot()
    found = {
        (kind.table.name, key): row for kind in DECLARED for key, row in rows.table(kind).items()
    }
    assert found == {(row.table.name, row.key): row for row in defaults.shipped()}
    assert all(row.is_default for row in found.values())  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (Profile, {("balanced",), ("focus",)}),
        (RetryPolicy, {("std_retry",)}),
        (RuleSet, {("not_empty",), ("schema_match",), ("row_count_gt0",)}),
        (HealingAction, {("SchemaMismatch",), ("SourceUnreachable",)}),
        (HealingStep, {("SchemaMismatch", 2)}),
        (ProfileSetting, {("focus", "preempt"), ("balanced", "max_concurrent_tasks")}),
    ],
    ids=lambda value: value.table.name if isinstance(value, type) else "",
)
def test_what_the_seed_names_is_there_from_the_start(
    kind: type[Row], keys: set[tuple[Any, ...]], catalog: Catalog
) -> None:
    assert keys <= catalog.snapshot().table(kind).keys()


def test_a_shipped_row_is_as_editable_as_any_other(
    catalog: Catalog, catalog_url: str, plain: PlainSql
) -> None:
    plain.run("UPDATE retry_policies SET max_retries = 9 WHERE retry_id = 'std_retry'")
    plain.run("DELETE FROM profiles WHERE profile_id = 'focus'")
    again = Catalog.open(catalog_url, create=True)
    try:
        rows = by_key(list(again.snapshot().rows(RetryPolicy)))
        assert rows["std_retry",].max_retries == 9
        assert again.snapshot().get(Profile, "focus") is None
    finally:
        again.close()
