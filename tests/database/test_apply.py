"""Applying files: what would change is shown, then all of it is done, or none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from goldsmith.catalog import bundle, database
from goldsmith.catalog.bundle import Bundle
from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.changes import history
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.difference import Difference, difference, drift
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.retries import RetryPolicy
from goldsmith.catalog.rows import Row
from goldsmith.catalog.rules import RuleSet
from goldsmith.journal.definitions import runs
from goldsmith.planning.apply_files import CatalogMoved, Proposal, apply, propose
from goldsmith.planning.catalog_indexer import CatalogIndexer
from goldsmith.planning.exporting import with_needed
from goldsmith.planning.planner import CatalogHasErrors
from goldsmith.registry import UnknownName
from plain_sql import PlainSql
from seed import YAML

SHOP = """
pipelines:
  - {pipeline_id: orders, owner: ann}
  - {pipeline_id: sales}
stages:
  - {pipeline_id: orders, stage_order: 1, source_id: raw, target_id: bronze}
  - {pipeline_id: orders, stage_order: 2, source_id: bronze, target_id: silver}
  - {pipeline_id: sales, stage_order: 1, source_id: silver, target_id: gold, layer: gold}
sources:
  - {source_id: raw, s3_path: "s3://shop/raw/", file_format: csv}
targets:
  - {target_id: bronze, location: "s3://shop/bronze/", type: s3}
  - {target_id: silver, location: "s3://shop/silver/", type: s3}
  - {target_id: gold, location: shop.gold, type: redshift}
"""
#: A stage that names no target is an error of integrity.
BROKEN = "stages: [{pipeline_id: orders, stage_order: 9, source_id: silver}]"


#: What `sales` depends on beside its datasets, and a pipeline that has nothing to do with it.
NEIGHBOURS = """
pipelines:
  - {pipeline_id: sales, default_retry_id: patient, schedule: "after: early"}
  - {pipeline_id: early}
  - {pipeline_id: other}
stages:
  - {pipeline_id: sales, stage_order: 1, source_id: silver, target_id: gold, layer: gold,
     validation_set_id: of_gold}
  - {pipeline_id: early, stage_order: 1, source_id: raw, target_id: early_bronze}
  - {pipeline_id: other, stage_order: 1, source_id: raw, target_id: unrelated}
sources:
  - {source_id: compared, s3_path: "s3://shop/compared/", file_format: csv}
targets:
  - {target_id: early_bronze, location: "s3://shop/early/", type: s3}
  - {target_id: unrelated, location: "s3://shop/unrelated/", type: s3}
retry_policies: [{retry_id: patient, max_retries: 9}]
validation_rules:
  - rule_set_id: of_gold
    check_def: [{type: referential, columns: [id], to: compared}]
"""


def declared(text: str) -> Bundle:
    return bundle.load([("catalog.yaml", text)])


def do(
    catalog_indexer: CatalogIndexer, text: str, *, prune: bool = False
) -> tuple[int, Difference]:
    files = declared(text)
    proposal = propose(catalog_indexer, files, prune=prune)
    return apply(catalog_indexer, files, proposal, actor="ann", reason=None, prune=prune)


def shown(found: Difference) -> list[tuple[str, str, str]]:
    return [(row.what, row.table, row.key) for row in found.rows]


@pytest.fixture
def shop(catalog_indexer: CatalogIndexer) -> CatalogIndexer:
    """A catalog with two pipelines in it, the second fed by the first."""
    do(catalog_indexer, SHOP)
    return catalog_indexer


def test_a_proposal_shows_what_would_be_added_and_changes_nothing(
    catalog_indexer: CatalogIndexer,
) -> None:
    revision = catalog_indexer.catalog.revision()
    proposal = propose(
        catalog_indexer, declared("sources: [{source_id: raw}]\ntargets: [{target_id: a}]")
    )
    assert shown(proposal.difference) == [("added", "sources", "raw"), ("added", "targets", "a")]
    assert proposal.difference.counts == {"added": 2, "changed": 0, "removed": 0}
    assert proposal.revision == catalog_indexer.catalog.revision() == revision
    assert catalog_indexer.catalog.snapshot().get(Source, "raw") is None


def test_a_changed_row_is_shown_with_the_columns_before_and_after(shop: CatalogIndexer) -> None:
    proposal = propose(shop, declared("pipelines: [{pipeline_id: orders, tags: [a, b]}]"))
    [changed] = proposal.difference.rows
    assert changed.what == "changed"
    assert changed.columns == {"owner": ("ann", None), "tags": ((), ("a", "b"))}
    assert changed.as_plain()["columns"]["tags"] == {"before": [], "after": ["a", "b"]}


def test_what_was_applied_is_there_and_applying_it_again_changes_nothing(
    catalog_indexer: CatalogIndexer,
) -> None:
    revision, done = do(catalog_indexer, SHOP)
    assert len(done.of("added")) == 9
    assert catalog_indexer.catalog.revision() == revision
    row = catalog_indexer.catalog.snapshot().get(Stage, "sales", 1)
    assert row == Stage(
        pipeline_id="sales", stage_order=1, source_id="silver", target_id="gold", layer="gold"
    )
    assert do(catalog_indexer, SHOP) == (revision, Difference(rows=()))
    assert catalog_indexer.catalog.revision() == revision


def test_nothing_is_removed_without_prune(shop: CatalogIndexer) -> None:
    _, done = do(shop, "pipelines: [{pipeline_id: orders, owner: ann}]\ntargets: []")
    assert done.rows == ()
    assert len(shop.catalog.snapshot().rows(Pipeline)) == 2


def test_prune_removes_what_the_files_no_longer_name_in_the_tables_they_speak_of(
    shop: CatalogIndexer,
) -> None:
    less = """
pipelines: [{pipeline_id: orders, owner: ann}]
stages:
  - {pipeline_id: orders, stage_order: 1, source_id: raw, target_id: bronze}
  - {pipeline_id: orders, stage_order: 2, source_id: bronze, target_id: silver}
"""
    _, done = do(shop, less, prune=True)
    assert shown(done) == [("removed", "pipelines", "sales"), ("removed", "stages", "sales/1")]
    rows = shop.catalog.snapshot()
    assert set(rows.table(Pipeline)) == {("orders",)}
    assert set(rows.table(Target)) == {("bronze",), ("silver",), ("gold",)}


def test_prune_keeps_shipped_rows(shop: CatalogIndexer) -> None:
    proposal = propose(shop, declared("validation_rules:\nretry_policies: []"), prune=True)
    assert proposal.difference.rows == ()


def test_prune_removes_a_shipped_row_that_was_made_ones_own(shop: CatalogIndexer) -> None:
    do(shop, "retry_policies: [{retry_id: std_retry, max_retries: 9}]")
    proposal = propose(shop, declared("retry_policies: []"), prune=True)
    assert shown(proposal.difference) == [("removed", "retry_policies", "std_retry")]


def test_export_and_load_again_differ_in_nothing(shop: CatalogIndexer, plain: PlainSql) -> None:
    do(shop, YAML)
    plain.run("UPDATE stages SET keys = 'a, b', schema_policy = 'freeze', stop_grace_sec = 0.1")
    plain.run('UPDATE targets SET options = \'{"b": [1, 2.5, null], "a": {"c": true}}\'')
    rows = shop.catalog.snapshot()
    text = bundle.export(rows)
    assert difference(declared(text), rows, prune=True).rows == ()
    do(shop, text, prune=True)
    assert bundle.export(shop.catalog.snapshot()) == text


def test_an_exported_catalog_fills_an_empty_one(
    shop: CatalogIndexer, plain: PlainSql, catalog: Catalog
) -> None:
    text = bundle.export(shop.catalog.snapshot())
    for table in ("pipelines", "stages", "sources", "targets"):
        plain.run(f"DELETE FROM {table}")
    do(shop, text)
    assert bundle.export(catalog.snapshot()) == text


def test_the_export_of_one_pipeline_is_whole_in_an_empty_catalog(
    shop: CatalogIndexer, catalog: Catalog, plain: PlainSql
) -> None:
    do(shop, NEIGHBOURS)
    text = bundle.export(with_needed(shop.catalog_index(), ["sales"]))
    rows = declared(text).rows
    # `orders` writes what `sales` reads, `early` ends before it begins.
    assert set(rows[Pipeline]) == {("sales",), ("orders",), ("early",)}
    assert set(rows[RetryPolicy]) == {("patient",)}
    assert ("unrelated",) not in rows[Target]
    assert set(rows[RuleSet]) == {("of_gold",)}
    assert ("compared",) in rows[Source]

    for table in ("pipelines", "stages", "sources", "targets", "validation_rules"):
        plain.run(f"DELETE FROM {table}")
    plain.run("DELETE FROM retry_policies WHERE retry_id = 'patient'")
    emptied = CatalogIndexer(catalog)
    assert not propose(emptied, declared(text)).brings
    do(emptied, text)
    assert bundle.export(with_needed(emptied.catalog_index(), ["sales"])) == text


def test_the_export_of_a_pipeline_nobody_knows_is_refused(shop: CatalogIndexer) -> None:
    with pytest.raises(UnknownName, match="sails"):
        with_needed(shop.catalog_index(), ["sails"])


def test_errors_of_integrity_stop_and_nothing_changes(shop: CatalogIndexer) -> None:
    revision = shop.catalog.revision()
    files = declared(BROKEN + "\ntargets: [{target_id: fine, location: 's3://shop/f/', type: s3}]")
    proposal = propose(shop, files)
    assert [error.code for error in proposal.errors] == ["StageWithoutTarget"]
    with pytest.raises(CatalogHasErrors, match="names no target"):
        apply(shop, files, proposal, actor="ann", reason=None)
    assert shop.catalog.revision() == revision
    assert shop.catalog.snapshot().get(Target, "fine") is None


def test_an_error_that_was_there_before_does_not_stop_an_unrelated_apply(
    shop: CatalogIndexer, plain: PlainSql
) -> None:
    plain.run(
        "INSERT INTO stages (pipeline_id, stage_order, source_id) VALUES ('sales', 9, 'gold')"
    )
    _, done = do(shop, "pipelines: [{pipeline_id: orders, owner: bob}]")
    assert shown(done) == [("changed", "pipelines", "orders")]


def test_warnings_are_shown_and_do_not_stop(shop: CatalogIndexer) -> None:
    files = declared(
        "validation_rules: [{rule_set_id: unused, check_def: [{type: row_count, min: 1}]}]"
    )
    proposal = propose(shop, files)
    assert [finding.code for finding in proposal.brings] == ["UnusedRuleSet"]
    apply(shop, files, proposal, actor="ann", reason=None)
    assert shop.catalog.snapshot().get(RuleSet, "unused") is not None


def test_an_apply_mends_the_error_it_is_about(shop: CatalogIndexer, plain: PlainSql) -> None:
    plain.run(
        "INSERT INTO stages (pipeline_id, stage_order, source_id) VALUES ('sales', 9, 'gold')"
    )
    do(
        shop,
        "stages: [{pipeline_id: sales, stage_order: 9, source_id: gold, target_id: copy}]\n"
        "targets: [{target_id: copy, location: shop.copy, type: redshift}]",
    )
    assert shop.catalog_index().errors == ()


def test_who_and_why_are_in_the_history_of_every_row(catalog_indexer: CatalogIndexer) -> None:
    files = declared(SHOP)
    proposal = propose(catalog_indexer, files)
    revision, _ = apply(catalog_indexer, files, proposal, actor="ann", reason="the first shop")
    found = history(catalog_indexer.catalog, revision=revision)
    assert len(found) == 9
    assert {(c.actor, c.reason) for c in found} == {("ann", "the first shop")}


def test_a_flag_in_a_file_says_who_set_it_and_when(shop: CatalogIndexer) -> None:
    flag = "{entity_type: pipeline, entity_id: orders, flag_name: enabled, flag_value: false}"
    do(shop, f"control_flags: [{flag}]")
    [found] = shop.catalog.snapshot().rows(Flag)
    assert found.updated_by == "ann"
    assert found.updated_at is not None
    revision = shop.catalog.revision()
    do(shop, f"control_flags: [{flag}]")
    assert shop.catalog.revision() == revision


def test_what_somebody_changed_meanwhile_is_not_overwritten_unseen(
    shop: CatalogIndexer, plain: PlainSql
) -> None:
    files = declared("pipelines: [{pipeline_id: orders, owner: bob}]")
    proposal = propose(shop, files)
    plain.run("UPDATE pipelines SET owner = 'eve', sla_minutes = 5 WHERE pipeline_id = 'orders'")
    moved = shop.catalog.revision()
    with pytest.raises(CatalogMoved) as raised:
        apply(shop, files, proposal, actor="ann", reason=None)
    assert (raised.value.shown, raised.value.found) == (proposal.revision, moved)
    assert raised.value.transient
    assert shop.catalog.revision() == moved
    row = shop.catalog.snapshot().get(Pipeline, "orders")
    assert row is not None
    assert row.owner == "eve"


def test_a_change_elsewhere_meanwhile_does_not_matter(
    shop: CatalogIndexer, plain: PlainSql
) -> None:
    files = declared("pipelines: [{pipeline_id: orders, owner: bob}]")
    proposal = propose(shop, files)
    plain.run("UPDATE targets SET options = '{\"a\": 1}'")
    moved = shop.catalog.revision()
    revision, done = apply(shop, files, proposal, actor="ann", reason=None)
    assert revision == shop.catalog.revision() == moved + 1
    assert done == proposal.difference


def test_whoever_does_not_look_gets_what_the_files_mean_now(
    shop: CatalogIndexer, plain: PlainSql
) -> None:
    files = declared("pipelines: [{pipeline_id: orders, owner: bob}]")
    proposal = propose(shop, files)
    plain.run("UPDATE pipelines SET owner = 'eve', sla_minutes = 5 WHERE pipeline_id = 'orders'")
    _, done = apply(shop, files, proposal, actor="ann", reason=None, as_shown=False)
    [changed] = done.rows
    assert changed.columns == {"owner": ("eve", "bob"), "sla_minutes": (5, None)}
    row = shop.catalog.snapshot().get(Pipeline, "orders")
    assert row is not None
    assert (row.owner, row.sla_minutes) == ("bob", None)


def test_what_somebody_did_already_is_not_done_again(shop: CatalogIndexer, plain: PlainSql) -> None:
    files = declared("pipelines: [{pipeline_id: orders, owner: bob}]")
    proposal = propose(shop, files)
    plain.run("UPDATE pipelines SET owner = 'bob' WHERE pipeline_id = 'orders'")
    done = shop.catalog.revision()
    _, changed = apply(shop, files, proposal, actor="ann", reason=None, as_shown=False)
    assert changed.rows == ()
    assert shop.catalog.revision() == done


def test_errors_that_only_arise_with_what_somebody_changed_meanwhile_stop_too(
    shop: CatalogIndexer, plain: PlainSql
) -> None:
    files = declared(
        "stages: [{pipeline_id: sales, stage_order: 2, source_id: gold, target_id: bronze}]"
    )
    proposal = Proposal(
        difference=propose(shop, files).difference,
        revision=shop.catalog.revision(),
        brings=(),
        touches=(),
        running=(),
    )
    plain.run("DELETE FROM targets WHERE target_id = 'bronze'")
    moved = shop.catalog.revision()
    with pytest.raises(CatalogHasErrors, match="bronze"):
        apply(shop, files, proposal, actor="ann", reason=None)
    assert shop.catalog.revision() == moved


@pytest.fixture
def impatient(
    shop: CatalogIndexer, catalog_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[CatalogIndexer]:
    """A surveyor whose SQLite gives up on a lock after a second."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 1)
    opened = Catalog.open(catalog_url)
    yield CatalogIndexer(opened)
    opened.close()


def test_sql_that_somebody_wrote_meanwhile_is_parsed_and_kept_and_holds_nobody_up(
    impatient: CatalogIndexer, plain: PlainSql
) -> None:
    files = declared("pipelines: [{pipeline_id: orders, owner: bob}]")
    proposal = propose(impatient, files)
    plain.run(
        "UPDATE stages SET transform_sql = 'SELECT id FROM bronze' WHERE target_id = 'silver'"
    )
    apply(impatient, files, proposal, actor="ann", reason=None)
    impatient.catalog_index()
    # What is parsed inside the change must not be written beside it: it would wait for itself.
    assert plain.value("SELECT count(*) FROM sql_facts") == 1


@pytest.mark.parametrize(
    ("files", "touched"),
    [
        ("pipelines: [{pipeline_id: sales, owner: bob}]", ("sales",)),
        ("pipelines: [{pipeline_id: brand_new}]", ("brand_new",)),
        (
            "targets: [{target_id: silver, location: 's3://shop/s2/', type: s3}]",
            ("orders", "sales"),
        ),
        ("sources: [{source_id: raw, s3_path: 's3://shop/r2/', file_format: csv}]", ("orders",)),
        (
            "stages: [{pipeline_id: orders, stage_order: 3, source_id: raw, target_id: silver}]",
            ("orders",),
        ),
        ("retry_policies: [{retry_id: lonely}]", ()),
        ("dataset_lineage: [{from_dataset_id: raw, to_dataset_id: bronze}]", ("orders",)),
        (
            "control_flags: [{entity_type: pipeline, entity_id: sales, flag_name: enabled}]",
            ("sales",),
        ),
        (
            "control_flags: [{entity_type: stage, entity_id: sales-1, flag_name: enabled}]",
            ("sales",),
        ),
        (
            "control_flags: [{entity_type: source, entity_id: silver, flag_name: enabled}]",
            ("orders", "sales"),
        ),
        (
            "control_flags: [{entity_type: everything, entity_id: '*', flag_name: enabled}]",
            ("orders", "sales"),
        ),
        ("pipeline_profiles: [{pipeline_id: sales, profile_id: focus}]", ("sales",)),
        (
            "throttles: [{throttle_id: t, entity_type: source, entity_id: raw, threshold: 9}]",
            ("orders",),
        ),
    ],
)
def test_a_proposal_says_which_pipelines_it_touches(
    files: str, touched: tuple[str, ...], shop: CatalogIndexer
) -> None:
    assert propose(shop, declared(files)).touches == touched


def test_a_removed_stage_touches_its_pipeline(shop: CatalogIndexer) -> None:
    files = declared(
        "stages: [{pipeline_id: orders, stage_order: 1, source_id: raw, target_id: bronze}]"
    )
    proposal = propose(shop, files, prune=True)
    assert shown(proposal.difference) == [
        ("removed", "stages", "orders/2"),
        ("removed", "stages", "sales/1"),
    ]
    assert proposal.touches == ("orders", "sales")


def test_a_proposal_says_which_of_the_pipelines_run_right_now(shop: CatalogIndexer) -> None:
    with database.writing(shop.catalog.engine) as connection:
        connection.execute(
            sa.insert(runs),
            [
                {"run_id": "1", "pipeline_id": "sales", "status": "running"},
                {"run_id": "2", "pipeline_id": "orders", "status": "succeeded"},
                {"run_id": "3", "pipeline_id": "elsewhere", "status": "running"},
            ],
        )
    files = declared("targets: [{target_id: silver, location: 's3://shop/s2/', type: s3}]")
    proposal = propose(shop, files)
    assert proposal.touches == ("orders", "sales")
    assert proposal.running == ("sales",)


@pytest.mark.parametrize(
    ("before", "after"),
    [("true", "1"), ("0", "false"), ("[1]", "[true]"), ("{a: true}", "{a: 1}")],
)
def test_a_word_in_options_that_became_a_number_is_a_change(
    before: str, after: str, shop: CatalogIndexer
) -> None:
    row = "targets: [{{target_id: gold, location: shop.gold, type: redshift, options: {{o: {0}}}}}]"
    do(shop, row.format(before))
    _, done = do(shop, row.format(after))
    assert [list(changed.columns) for changed in done.rows] == [["options"]]
    wanted = declared(row.format(after)).rows[Target]["gold",].options["o"]  # type: ignore[attr-defined]
    found = Catalog(shop.catalog.engine).snapshot().get(Target, "gold")
    assert found is not None
    assert repr(found.options["o"]) == repr(wanted)


def test_drift_is_how_the_live_catalog_differs_from_the_files(
    shop: CatalogIndexer, plain: PlainSql
) -> None:
    plain.run("UPDATE pipelines SET owner = 'eve' WHERE pipeline_id = 'orders'")
    plain.run("DELETE FROM targets WHERE target_id = 'gold'")
    plain.run("INSERT INTO sources (source_id) VALUES ('surprise')")
    plain.run(
        "INSERT INTO control_flags (entity_type, entity_id, flag_name, flag_value)"
        " VALUES ('pipeline', 'orders', 'enabled', FALSE)"
    )
    found = drift(declared(SHOP + "control_flags: []\n"), shop.catalog.snapshot())
    assert sorted(shown(found)) == [
        ("added", "sources", "surprise"),
        ("changed", "pipelines", "orders"),
        ("removed", "targets", "gold"),
    ]
    [changed] = found.of("changed")
    assert changed.columns == {"owner": ("ann", "eve")}


def test_shipped_rows_the_files_repeat_stay_shipped(catalog_indexer: CatalogIndexer) -> None:
    do(catalog_indexer, YAML)
    row: Row | None = catalog_indexer.catalog.snapshot().get(RetryPolicy, "std_retry")
    assert isinstance(row, RetryPolicy)
    assert row.is_default
