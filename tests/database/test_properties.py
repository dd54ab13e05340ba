"""Any catalog survives export and apply; any changes followed by their undos leave no trace."""

from __future__ import annotations

import string
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldsmith.catalog import bundle
from goldsmith.catalog.bundle import convert
from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.changes import undo
from goldsmith.catalog.columns import LARGEST_NUMBER, ColumnKind, DeclaredColumn
from goldsmith.catalog.difference import Difference, difference
from goldsmith.catalog.rows import Row
from goldsmith.catalog.schema import DECLARED
from goldsmith.catalog.snapshot import CatalogRows
from plain_sql import REFUSED, PlainSql

# One database for all examples of a test: each begins by emptying it.
SOME = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

LARGEST = 2**63 - 1
#: Any character a database can keep, and the odd ones often.
characters = st.characters(codec="utf-8", exclude_characters="\0") | st.sampled_from(
    "'\"\\%?:{}[],#&*!|>-~\t\n\r \u0085\u2028\u00a0\u200b\ufeff\ufffe\U0001f600\u0301\u202e\x01\x7f"
)
texts = st.text(characters, max_size=12) | st.sampled_from(
    ["null", "true", "1e5", "007", "2026-01-31", "a: b", "{}", "[]", '{"a": "b"}', '["a"]', " x "]
)
keys = st.text(characters, min_size=1, max_size=12) | st.sampled_from(string.ascii_lowercase[:4])
odd_floats = st.sampled_from([0.1 + 0.2, 1e-300, 5e-324, 1e23, 2.0**60, -0.0])
numbers = st.floats(-LARGEST_NUMBER, LARGEST_NUMBER, exclude_max=True) | odd_floats
floats = st.floats(allow_nan=False, allow_infinity=False) | odd_floats
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**25), 10**25) | floats | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)


def values_of(column: DeclaredColumn) -> st.SearchStrategy[Any]:
    """Anything a file may say in a column."""
    if column.choices:
        return st.sampled_from(column.choices)
    match column.kind:
        case ColumnKind.TEXT:
            return keys if column.is_key else texts
        case ColumnKind.FLAG:
            return st.booleans()
        case ColumnKind.WHOLE if column.is_key:
            return st.integers(0, 3)
        case ColumnKind.WHOLE:
            return st.integers(-LARGEST if column.least is None else int(column.least), LARGEST)
        case ColumnKind.NUMBER if column.most is not None:
            return st.floats(column.least, column.most)
        case ColumnKind.NUMBER:
            return numbers if column.least is None else numbers.filter(lambda n: n >= 0)
        case ColumnKind.MOMENT:
            moments = st.datetimes(datetime(1000, 1, 1), datetime(9998, 12, 31))
            return moments.map(lambda when: when.replace(tzinfo=UTC).isoformat())
        case ColumnKind.LIST:
            return st.lists(json_objects, max_size=3)
        case ColumnKind.MAP:
            return json_objects
        case ColumnKind.NAMES:
            return st.lists(texts, max_size=3) | texts
        case ColumnKind.POLICY:
            return texts | st.dictionaries(texts, texts, max_size=2)


def rows_of_kind(kind: type[Row]) -> st.SearchStrategy[Row]:
    """Any row of a table, as a file would give it."""
    columns = {c.name: values_of(c).map(lambda v, c=c: convert(c, v)) for c in kind.table.in_files}
    required = {name: columns.pop(name) for name in kind.table.key}
    optional = {name: columns[name] for name in columns if not kind.table.by_name[name].generated}
    return st.fixed_dictionaries(required, optional=optional).map(lambda values: kind(**values))


any_row = st.sampled_from(DECLARED).flatmap(rows_of_kind)
some_rows = st.lists(any_row, max_size=8, unique_by=lambda row: (type(row), row.key))


def emptied(catalog: Catalog, plain: PlainSql) -> None:
    for kind in DECLARED:
        plain.run(f"DELETE FROM {kind.table.name}")
    assert not any(catalog.snapshot().rows(kind) for kind in DECLARED)


def put(catalog: Catalog, rows: Sequence[Row]) -> None:
    with catalog.change(actor="ann") as change:
        change.put(rows)


def apply(catalog: Catalog, text: str) -> Difference:
    """Make the catalog say what a text says and nothing else; integrity has tests of its own."""
    files = bundle.load([("export.yaml", text)])
    found = difference(files, catalog.snapshot(), prune=True)
    with catalog.change(actor="ann") as change:
        change.remove([row.before for row in found.of("removed") if row.before is not None])
        change.put([row.after for row in found.rows if row.after is not None])
    return found


def anew(catalog: Catalog) -> CatalogRows:
    return Catalog(catalog.engine).snapshot()


def declared(rows: CatalogRows) -> dict[str, dict[Any, Row]]:
    """Every row without what the database filled in."""
    return {
        kind.table.name: {
            key: row.with_(**{c.name: None for c in kind.table.columns if c.generated})
            for key, row in rows.table(kind).items()
        }
        for kind in DECLARED
    }


@SOME
@given(rows=some_rows)
def test_any_catalog_survives_export_and_apply_and_export(
    rows: list[Row], catalog: Catalog, plain: PlainSql
) -> None:
    emptied(catalog, plain)
    put(catalog, rows)
    first = anew(catalog)
    assert declared(first) == declared(catalog.snapshot())
    assert sum(len(first.rows(kind)) for kind in DECLARED) == len(rows)
    for row in rows:
        assert declared(first)[row.table.name][row.key] == row
    text = bundle.export(first)
    assert not apply(catalog, text)  # it says what is there already
    emptied(catalog, plain)
    apply(catalog, text)
    assert declared(anew(catalog)) == declared(first)
    assert bundle.export(anew(catalog)) == text


@SOME
@given(before=some_rows, after=some_rows)
def test_any_catalog_can_be_made_of_any_other(
    before: list[Row], after: list[Row], catalog: Catalog, plain: PlainSql
) -> None:
    emptied(catalog, plain)
    put(catalog, before)
    text = bundle.export(_snapshot(after))
    unsaid = set(DECLARED) - {type(row) for row in after}
    everything = text + "".join(f"{kind.table.name}:\n" for kind in unsaid)
    apply(catalog, everything)
    assert bundle.export(anew(catalog)) == text
    assert not apply(catalog, everything)


def _snapshot(rows: Sequence[Row]) -> CatalogRows:
    return CatalogRows(
        0, {k.table.name: {r.key: r for r in rows if type(r) is k} for k in DECLARED}
    )


#: What somebody types into `psql` or `sqlite3`; some of it the database refuses, now and then.
STATEMENTS = (
    "UPDATE pipelines SET enabled = NOT enabled, owner = 'eve'",
    "UPDATE pipelines SET pipeline_id = pipeline_id || '2'",
    "UPDATE pipelines SET tags = 'one, two', created_at = '2020-02-02 02:02:02'",
    "UPDATE stages SET stage_order = stage_order + 10",
    'UPDATE stages SET options = \'{"read": "all", "n": 0.1}\', stop_grace_sec = 0.1',
    "DELETE FROM stages",
    "DELETE FROM sources",
    "UPDATE targets SET type = NULL, options = NULL",
    "UPDATE throttles SET threshold = threshold / 3",
    'UPDATE validation_rules SET check_def = \'[{"type": "x", "max": 1e-300}]\'',
    "UPDATE control_flags SET flag_value = NOT flag_value, updated_by = NULL",
    "UPDATE retry_policies SET jitter = 0.1, is_default = TRUE",
    "INSERT INTO sources (source_id) VALUES ('typed')",
    "INSERT INTO pipelines (pipeline_id, enabled) VALUES ('typed', 'stop')",
)
puts = st.lists(any_row, min_size=1, max_size=4, unique_by=lambda row: (type(row), row.key))
edits = st.one_of(
    puts.map(lambda rows: ("put", rows)),
    puts.map(lambda rows: ("remove", rows)),
    st.integers(0, 20).map(lambda index: ("remove one", index)),
    st.sampled_from(STATEMENTS).map(lambda statement: ("type", statement)),
)


def edit(change: tuple[str, Any], catalog: Catalog, plain: PlainSql) -> None:
    what, argument = change
    if what == "put":
        put(catalog, argument)
    elif what == "type":
        try:
            plain.run(argument)
        except REFUSED:
            return
    else:
        there = catalog.snapshot()
        rows = [row for kind in DECLARED for row in there.rows(kind)]
        chosen = argument if what == "remove" else rows[argument : argument + 1]
        with catalog.change(actor="bob") as changing:
            changing.remove(chosen)


@SOME
@given(first=some_rows, changes=st.lists(edits, min_size=1, max_size=6))
def test_any_changes_undone_at_once_give_the_first_catalog_back(
    first: list[Row], changes: list[tuple[str, Any]], catalog: Catalog, plain: PlainSql
) -> None:
    emptied(catalog, plain)
    put(catalog, first)
    before, start = anew(catalog), catalog.revision()
    for change in changes:
        edit(change, catalog, plain)
    undo(catalog, actor="ann", since=start)
    assert anew(catalog).tables == before.tables
    assert catalog.snapshot().tables == before.tables


@SOME
@given(first=some_rows, changes=st.lists(edits, min_size=1, max_size=6))
def test_any_changes_undone_one_by_one_give_the_first_catalog_back(
    first: list[Row], changes: list[tuple[str, Any]], catalog: Catalog, plain: PlainSql
) -> None:
    emptied(catalog, plain)
    put(catalog, first)
    before, start = anew(catalog), catalog.revision()
    for change in changes:
        edit(change, catalog, plain)
    changed = sorted(
        {
            revision
            for (revision,) in plain.run(f"SELECT revision FROM changes WHERE revision > {start}")
        }
    )
    for revision in reversed(changed):
        undo(catalog, actor="ann", revision=revision)
    assert anew(catalog).tables == before.tables
    assert catalog.snapshot().tables == before.tables
