"""Whatever a file holds, it ends in a coded error or in rows, and never harms the catalog."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldsmith.catalog import bundle
from goldsmith.catalog.bundle import Bundle
from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.columns import ColumnKind
from goldsmith.catalog.pipelines import Pipeline
from goldsmith.catalog.schema import BY_TABLE, DECLARED
from goldsmith.catalog.yaml_documents import files_of
from goldsmith.errors import GoldsmithError
from goldsmith.planning import apply_files
from goldsmith.planning.catalog_indexer import CatalogIndexer
from seed import YAML

MANY = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SOME = settings(MANY, max_examples=40)

ODD_TEXTS = (
    "'; DROP TABLE pipelines; --",
    "x' OR '1'='1",
    'Robert"); DROP TABLE stages;--',
    "${jndi:ldap://x}",
    "{{ 7 * 7 }}",
    "%s %(a)s :a ? $1 \\",
    "a\r\nb\tc",
    "\u202eright to left\u202c",
    "a\u0301 \u00e1 \ufb01",  # the same letter two ways, a ligature
    "\u200b\u2028\u2029\u0085\ufeff\ufffe\uffff",
    "👩‍👩‍👧‍👦 🏳️‍🌈 𝔸𝔹",
    "\x01\x02\x1f\x7f\x9f",
    "İıſK",
    "null",
    "1e5",
    "  spaces  ",
    "#",
    "- a: b",
    "/../../etc/passwd",
    "",
)
texts = st.one_of(
    st.sampled_from(ODD_TEXTS),
    st.text(max_size=30),
    st.text(st.characters(codec="utf-8"), max_size=300),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    texts,
    st.dates().map(str),
    st.sampled_from(["critical", "merge", "pipeline", "freeze", "2026-01-31T08:00:00Z"]),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)


def row_like(kind: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Something like a row: its columns' names with anything in them, and names of nothing."""
    names = [column.name for column in kind.table.columns]
    return st.dictionaries(st.sampled_from(names) | texts, values, max_size=6)


tables_like = st.dictionaries(
    st.sampled_from(sorted(BY_TABLE)) | texts,
    st.one_of(
        values,
        st.sampled_from(DECLARED).flatmap(lambda kind: st.lists(row_like(kind), max_size=4)),
    ),
    max_size=4,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def ends_well(content: bytes, folder: Path, name: str = "a.yaml") -> Bundle | GoldsmithError:
    """The rows of a file, or a coded error that can be shown."""
    file = folder / name
    file.write_bytes(content)
    try:
        return bundle.load(files_of([str(file)], io.StringIO()))
    except GoldsmithError as error:
        return showable(error)


def showable(error: GoldsmithError) -> GoldsmithError:
    assert str(error).encode()
    assert error.code
    assert json.dumps(dict(error.facts), default=str)
    return error


@MANY
@given(content=st.binary(max_size=300), name=st.sampled_from(["a.yaml", "a.json"]))
def test_random_bytes_end_in_rows_or_a_coded_error(content: bytes, name: str, folder: Path) -> None:
    ends_well(content, folder, name)


@MANY
@given(text=st.text(alphabet="[]{}:,-&*!|>'\"%@`#?~ \n\tab01.e+", max_size=80))
def test_random_yaml_punctuation_ends_in_rows_or_a_coded_error(text: str, folder: Path) -> None:
    ends_well(text.encode(), folder)


@MANY
@given(position=st.integers(0, len(YAML)), cut=st.integers(0, 40), put=st.text(max_size=8))
def test_the_seeds_yaml_with_a_piece_torn_out_ends_in_rows_or_a_coded_error(
    position: int, cut: int, put: str, folder: Path
) -> None:
    torn = YAML[:position] + put + YAML[position + cut :]
    ends_well(torn.encode("utf-8", "surrogatepass"), folder)


@MANY
@given(declared=tables_like)
def test_anything_in_every_field_ends_in_rows_or_a_coded_error(
    declared: dict[str, Any], folder: Path
) -> None:
    ends_well(json.dumps(declared).encode(), folder, "a.json")
    ends_well(yaml.safe_dump(declared, allow_unicode=True).encode("utf-8", "surrogatepass"), folder)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000,
        "{" * 10_000,
        "a: " * 10_000,
        "- " * 10_000,
        "[[" * 5_000 + "]]" * 5_000,
        "a: &a [" + "*a, " * 1_000 + "]",
        "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 200))]),
        "pipelines: &p [{pipeline_id: a}]\nstages: *p\nsources: *p",
        "pipelines: [{pipeline_id: a, pipeline_id: b}]\npipelines: []",
        "<<: {pipelines: []}",
        "pipelines: !!python/object/apply:os.system ['true']",
        "--- !!map {}\n--- !!seq []\n--- !!null\n...\n",
        "%YAML 9.9\n---\na",
        "%TAG ! tag:x,2000:\n---\n!a b",
        "pipelines: [{? [a]: b}]",
        "pipelines: [{pipeline_id: !!int 7}]",
        "pipelines: [{pipeline_id: !!null a}]",
        "a" * 100_000,
        "? " + "a" * 100_000,
        "'" + "a" * 100_000,
        "pipelines: [{pipeline_id: a, sla_minutes: " + "9" * 5_000 + "}]",
        "throttles: [{throttle_id: a, threshold: " + "9" * 5_000 + ".5}]",
        "targets: [{target_id: a, options: {b: " + "9" * 399 + "}}]",
        "targets: [{target_id: a, options: {b: " + "9" * 5_000 + "}}]",
        "targets: [{target_id: a, options: " + "{a: " * 60 + "1" + "}" * 60 + "}]",
    ],
    ids=lambda text: text[:25],
)
def test_bombs_depth_and_odd_syntax_end_in_rows_or_a_coded_error(text: str, folder: Path) -> None:
    ends_well(text.encode(), folder)
    ends_well(text.encode(), folder, "a.json")


TEN_MEGABYTES = "x" * 10_000_000


@pytest.mark.parametrize(
    "text",
    [
        "pipelines: [{pipeline_id: a, description: LONG}]",
        "pipelines: [{pipeline_id: LONG}]",
        "pipelines: [{pipeline_id: a, tags: LONG}]",
        "pipelines: [{pipeline_id: a, impact: LONG}]",
        "stages: [{pipeline_id: a, stage_order: 1, schema_policy: LONG}]",
        "targets: [{target_id: a, options: {a: LONG}}]",
        "# LONG\npipelines: [{pipeline_id: a}]",
        "? LONG\n: 1",
        "pipelines: LONG",
        "LONG",
    ],
)
def test_ten_megabytes_end_in_rows_or_a_coded_error(text: str, folder: Path) -> None:
    found = ends_well(text.replace("LONG", TEN_MEGABYTES).encode(), folder)
    assert isinstance(found, Bundle) or len(str(found)) < 1_000


@pytest.mark.parametrize("kind", DECLARED, ids=lambda kind: kind.table.name)
@pytest.mark.parametrize("text", ODD_TEXTS[:-1], ids=ascii)
def test_odd_text_in_every_field_is_kept_as_it_is(kind: Any, text: str, folder: Path) -> None:
    declared = {
        column.name: {ColumnKind.NAMES: [text], ColumnKind.MAP: {text: text}}.get(column.kind, text)
        for column in kind.table.in_files
        if column.kind in (ColumnKind.TEXT, ColumnKind.NAMES, ColumnKind.MAP, ColumnKind.POLICY)
        and not column.choices
    }
    declared |= {
        column.name: column.choices[0] if column.choices else 1
        for column in kind.table.in_files
        if column.is_key and (column.choices or column.kind is ColumnKind.WHOLE)
    }
    found = ends_well(json.dumps({kind.table.name: [declared]}).encode(), folder, "a.json")
    assert isinstance(found, Bundle)
    [row] = found.rows[kind].values()
    plain = row.as_plain()
    assert {name: plain[name] for name in declared} == declared


@pytest.fixture(scope="module")
def catalog_indexer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CatalogIndexer]:
    """One catalog that every example is applied to."""
    file = tmp_path_factory.mktemp("fuzz") / "catalog.db"
    catalog = Catalog.open(f"sqlite:///{file}", create=True)
    yield CatalogIndexer(catalog)
    catalog.close()


def applied_or_unchanged(content: bytes, folder: Path, catalog_indexer: CatalogIndexer) -> None:
    """A file either is in the catalog afterwards, or the catalog is as it was."""
    catalog = catalog_indexer.catalog
    before = catalog.snapshot()
    found = ends_well(content, folder, "a.json")
    if isinstance(found, Bundle):
        try:
            proposal = apply_files.propose(catalog_indexer, found)
            apply_files.apply(catalog_indexer, found, proposal, actor="fuzz", reason=None)
        except GoldsmithError as error:
            found = showable(error)
    after = Catalog(catalog.engine).snapshot()
    assert catalog.snapshot().tables == after.tables
    if isinstance(found, Bundle):
        assert not apply_files.difference(found, after)
    else:
        assert after.tables == before.tables


@SOME
@given(declared=tables_like)
def test_what_is_accepted_is_applied_as_it_is_or_not_at_all(
    declared: dict[str, Any], folder: Path, catalog_indexer: CatalogIndexer
) -> None:
    applied_or_unchanged(json.dumps(declared).encode(), folder, catalog_indexer)


nested = st.dictionaries(texts, values, max_size=3)


@SOME
@given(
    name=texts,
    text=texts,
    options=nested,
    tags=st.lists(texts, max_size=3),
    sql=st.sampled_from(ODD_TEXTS)
    | st.sampled_from(["SELECT 1", "SELECT * FROM a", "((((", "SELECT " + "(" * 3_000, "/*"]),
)
def test_odd_words_in_rows_are_applied_as_they_are_or_not_at_all(
    name: str,
    text: str,
    options: dict[str, Any],
    tags: list[str],
    sql: str,
    folder: Path,
    catalog_indexer: CatalogIndexer,
) -> None:
    declared = {
        "pipelines": [{"pipeline_id": name, "description": text, "tags": tags, "schedule": text}],
        "stages": [
            {
                "pipeline_id": name,
                "stage_order": 1,
                "source_id": text,
                "target_id": name,
                "transform_sql": sql,
                "schema_policy": text,
                "options": options,
            }
        ],
        "sources": [{"source_id": text or "a", "s3_path": text, "options": options}],
        "targets": [{"target_id": name, "location": text, "type": "s3", "options": options}],
        "validation_rules": [{"rule_set_id": name, "check_def": [options, {"type": text}]}],
        "throttles": [{"throttle_id": name, "metric": text, "entity_id": text}],
        "dataset_lineage": [{"from_dataset_id": name, "to_dataset_id": name}],
        "healing_actions": [{"error_code": name, "action_script": text, "settings": options}],
    }
    applied_or_unchanged(json.dumps(declared).encode(), folder, catalog_indexer)


@pytest.mark.parametrize(
    "sql", [TEN_MEGABYTES, "SELECT " + "(" * 100_000, "SELECT 1" + " UNION SELECT 1" * 20_000]
)
def test_sql_of_megabytes_is_an_error_or_a_row_and_never_a_crash(
    sql: str, folder: Path, catalog_indexer: CatalogIndexer
) -> None:
    stage = {"pipeline_id": "long", "stage_order": 1, "target_id": "a", "transform_sql": sql}
    applied_or_unchanged(json.dumps({"stages": [stage]}).encode(), folder, catalog_indexer)


def test_a_description_of_ten_megabytes_is_kept(
    folder: Path, catalog_indexer: CatalogIndexer
) -> None:
    declared = {"pipelines": [{"pipeline_id": "wordy", "description": TEN_MEGABYTES}]}
    applied_or_unchanged(json.dumps(declared).encode(), folder, catalog_indexer)
    row = catalog_indexer.catalog.snapshot().get(Pipeline, "wordy")
    assert row is not None
    assert row.description == TEN_MEGABYTES
