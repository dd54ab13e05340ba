"""What the database itself refuses, whoever writes and however: a typed word opens no gate."""

from __future__ import annotations

import pytest

from goldsmith.catalog.applications import Application
from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.columns import ColumnKind, DeclaredColumn
from goldsmith.catalog.conventions import Convention
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.edges import ColumnLineage, Edge, RecoveryPath
from goldsmith.catalog.errors import RowRefused
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.incidents import NotificationRoute, SeverityLevel
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.profiles import PipelineProfile, Profile, ProfileSetting
from goldsmith.catalog.push_schedules import PushSchedule
from goldsmith.catalog.retries import HealingAction, HealingLimit, HealingStep, RetryPolicy
from goldsmith.catalog.rows import Row
from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.schema import DECLARED
from goldsmith.catalog.throttles import Throttle
from goldsmith.catalog.upkeep_schedules import CheckSchedule, MaintenanceSchedule, SlotPrice
from plain_sql import REFUSED, PlainSql

#: One row a table, to be changed for the worse.
ROWS: tuple[Row, ...] = (
    Pipeline(pipeline_id="p"),
    Stage(pipeline_id="p", stage_order=1),
    Source(source_id="s"),
    Target(target_id="t"),
    RuleSet(rule_set_id="r"),
    Flag(entity_type="pipeline", entity_id="p", flag_name="enabled"),
    RetryPolicy(retry_id="r"),
    HealingAction(error_code="E"),
    HealingStep(error_code="E", step_order=2),
    HealingLimit(limit_name="l"),
    SeverityLevel(severity="S"),
    NotificationRoute(route_id="r"),
    Profile(profile_id="f"),
    PipelineProfile(pipeline_id="p"),
    ProfileSetting(profile_id="f", setting_key="preempt"),
    Throttle(throttle_id="t"),
    MaintenanceSchedule(maintenance_id="m"),
    CheckSchedule(rule_set_id="r", dataset_id="t"),
    SlotPrice(hour=1),
    PushSchedule(push_schedule_id="p"),
    Application(name="a"),
    Edge(from_dataset_id="s", to_dataset_id="t"),
    ColumnLineage(from_dataset_id="s", from_column="a", to_dataset_id="t", to_column="b"),
    Convention(layer="raw"),
    RecoveryPath(dataset_id="t", path_order=1),
)


@pytest.fixture
def rows(catalog: Catalog) -> Catalog:
    """A catalog with one row of each table beside the shipped ones."""
    with catalog.change(actor="ann") as change:
        change.put(ROWS)
    return catalog


def refused(plain: PlainSql, table: str, column: str, literal: str) -> bool:
    """The database says no to this value, in SQL's own words, and nothing has changed."""
    revision = plain.revision()
    try:
        plain.run(f"UPDATE {table} SET {column} = {literal}")
    except REFUSED:
        return plain.revision() == revision
    return False


def accepted(plain: PlainSql, wrong: dict[tuple[str, str], list[str]]) -> list[str]:
    """The values that went in though they are wrong, as `table.column = value`."""
    return [
        f"{table}.{column} = {literal}"
        for (table, column), literals in wrong.items()
        for literal in literals
        if not refused(plain, table, column, literal)
    ]


def columns(*kinds: ColumnKind) -> list[tuple[tuple[str, str], DeclaredColumn]]:
    """The columns of these kinds, each with its table's name and its own."""
    return [
        ((row.table.name, column.name), column)
        for row in DECLARED
        for column in row.table.columns
        if column.kind in kinds
    ]


WORDS = ["'stop'", "'maybe'", "''", "'2026-01-01'"]


def test_there_is_a_row_of_every_table_to_try_it_on() -> None:
    assert tuple(type(row) for row in ROWS) == DECLARED


def test_a_word_is_refused_in_every_flag(rows: Catalog, plain: PlainSql) -> None:
    # PostgreSQL itself has words for its booleans, and 'false' is one of them.
    odd = [*WORDS, "'enabled'", "2", "-1", "NULL"]
    odd += ["'false'", "'true'", "'no'", "0.5", "x'00'"] if plain.is_sqlite else []
    assert accepted(plain, {name: odd for name, _ in columns(ColumnKind.FLAG)}) == []


def test_the_word_false_in_a_flag_never_reads_as_true(rows: Catalog, plain: PlainSql) -> None:
    plain.run("UPDATE control_flags SET flag_value = TRUE")
    try:
        plain.run("UPDATE control_flags SET flag_value = 'false'")
    except REFUSED:
        assert plain.is_sqlite
        expected = True  # what it was before
    else:
        expected = False
    assert [flag.flag_value for flag in rows.snapshot().rows(Flag)] == [expected]


def test_the_words_an_operator_types_to_stop_do_stop(rows: Catalog, plain: PlainSql) -> None:
    for typed in ("FALSE", "false", "'0'" if plain.is_sqlite else "'f'"):
        plain.run("UPDATE control_flags SET flag_value = TRUE")
        plain.run(f"UPDATE control_flags SET flag_value = {typed}")
        assert [flag.flag_value for flag in rows.snapshot().rows(Flag)] == [False]


def test_a_word_is_refused_in_every_number(rows: Catalog, plain: PlainSql) -> None:
    odd = [*WORDS, "'ten'", "'10 '||'minutes'", "'1,5'"]
    odd += ["x'31'", "9e999", "-9e999"] if plain.is_sqlite else []
    not_finite = [] if plain.is_sqlite else ["'NaN'", "'Infinity'", "'-Infinity'"]
    below = {
        name: ["-1"] for name, c in columns(ColumnKind.WHOLE, ColumnKind.NUMBER) if c.least == 0
    }
    above = {name: ["2"] for name, c in columns(ColumnKind.NUMBER) if c.most == 1}
    wrong = {name: [*odd, *not_finite] for name, _ in columns(ColumnKind.WHOLE, ColumnKind.NUMBER)}
    assert [accepted(plain, values) for values in (wrong, below, above)] == [[], [], []]


def test_a_fraction_is_never_kept_in_a_whole_number(rows: Catalog, plain: PlainSql) -> None:
    for (table, column), spec in columns(ColumnKind.WHOLE):
        if not refused(plain, table, column, "1.5") and not spec.is_key:
            # PostgreSQL rounds it on the way in, as it does everywhere.
            assert not plain.is_sqlite
            assert plain.value(f"SELECT DISTINCT {column} FROM {table}") == 2


def test_an_unknown_word_is_refused_where_the_words_are_a_closed_set(
    rows: Catalog, plain: PlainSql
) -> None:
    odd = ["'sometimes'", "''", "'NORMAL'", "'merge '", "1"]
    odd += ["x'6b656570'"] if plain.is_sqlite else []
    closed = [name for name, column in columns(ColumnKind.TEXT) if column.choices]
    assert ("pipelines", "criticality") in closed
    assert accepted(plain, dict.fromkeys(closed, odd)) == []


def test_json_that_is_malformed_or_of_the_wrong_shape_is_refused(
    rows: Catalog, plain: PlainSql
) -> None:
    anywhere = ["'{'", "'[1,]'", "'row_count'", "''", "'1'", "'\"word\"'", "'null'", "'true'"]
    anywhere += ["'NaN'", "'[NaN]'", "'{a: 1}'", "x'5b5d'", "x'7b7d'"] if plain.is_sqlite else []
    shape = {ColumnKind.LIST: "'{}'", ColumnKind.MAP: "'[]'"}
    wrong = {
        name: [*anywhere, shape[c.kind]] for name, c in columns(ColumnKind.LIST, ColumnKind.MAP)
    }
    assert ("validation_rules", "check_def") in wrong
    assert accepted(plain, wrong) == []


def test_what_is_not_a_time_is_refused_in_a_moment(rows: Catalog, plain: PlainSql) -> None:
    odd = [
        "'soon'",
        "''",
        "'12:30'",
        "'2026-02-31'",
        "'2026-13-01 00:00:00'",
        "'2026-01-01 25:00:00'",
        "'0000-01-01'",
        "'0999-12-31'",
        "'9999-01-01'",
        "'2026-01-01 00:00:00 o''clock'",
        "12",
    ]
    odd += (
        ["'now'", "'2026-01-01T'", "'2026-01-01 24:00:00'", "2461041.5", "x'323032362d30312d3031'"]
        if plain.is_sqlite
        else ["'infinity'", "'-infinity'", "'10000-01-01'", "'0044-03-15 BC'"]
    )
    assert accepted(plain, {name: odd for name, _ in columns(ColumnKind.MOMENT)}) == []


@pytest.mark.parametrize(
    "typed",
    [
        "2026-01-31",
        "2026-01-31 08:00",
        "2026-01-31 08:00:00",
        "2026-01-31T08:00:00",
        "2026-01-31T08:00:00Z",
        "2026-01-31T08:00:00.123456+00:00",
        "2026-01-31 10:00:00+02:00",
        "2024-02-29 23:59:59.999",
        "1000-01-01 00:00:00+14:00",
        "9998-12-31 23:59:59-14:00",
    ],
)
def test_a_time_the_database_takes_is_one_we_can_read(
    typed: str, rows: Catalog, plain: PlainSql
) -> None:
    if refused(plain, "control_flags", "ends_at", f"'{typed}'"):
        assert typed.startswith(("1000", "9998"))
    [flag] = rows.snapshot().rows(Flag)
    [anew] = Catalog(rows.engine).snapshot().rows(Flag)
    assert flag.ends_at == anew.ends_at


def test_a_blob_is_refused_in_every_text_on_sqlite(rows: Catalog, plain: PlainSql) -> None:
    if not plain.is_sqlite:
        pytest.skip("PostgreSQL has no values of another type than their column's")
    texts = columns(ColumnKind.TEXT, ColumnKind.NAMES, ColumnKind.POLICY)
    assert accepted(plain, {name: ["x'706970'"] for name, _ in texts}) == []


def test_every_column_that_must_say_something_refuses_null(rows: Catalog, plain: PlainSql) -> None:
    needed = [name for name, column in columns(*ColumnKind) if column.required or column.is_key]
    assert ("pipelines", "enabled") in needed
    assert accepted(plain, {name: ["NULL"] for name in needed}) == []


def test_a_wrong_row_is_refused_as_well_as_a_wrong_update(plain: PlainSql) -> None:
    revision = plain.revision()
    for statement in (
        "INSERT INTO pipelines (pipeline_id, enabled) VALUES ('p', 'stop')",
        "INSERT INTO pipelines (pipeline_id, enabled) VALUES ('p', NULL)",
        "INSERT INTO pipelines (enabled) VALUES (TRUE)",
        "INSERT INTO stages (pipeline_id, stage_order) VALUES ('p', 'first')",
        "INSERT INTO stages (pipeline_id, stage_order) VALUES ('p', -1)",
        "INSERT INTO validation_rules (rule_set_id, check_def) VALUES ('r', 'row_count > 0')",
        "INSERT INTO control_flags (entity_type, entity_id, flag_name, flag_value)"
        " VALUES ('pipelines', 'p', 'enabled', FALSE)",
        "INSERT INTO throttles (throttle_id, threshold) VALUES ('t', 'a lot')",
    ):
        with pytest.raises(REFUSED):
            plain.run(statement)
    assert plain.revision() == revision


def test_a_row_of_ours_the_database_refuses_ends_in_a_coded_error(catalog: Catalog) -> None:
    revision = catalog.revision()
    with (
        pytest.raises(RowRefused, match="throttles 'odd'"),
        catalog.change(actor="ann") as change,
    ):
        change.put([Throttle(throttle_id="odd", threshold=float("inf"))])
    assert catalog.revision() == revision
    assert catalog.snapshot().get(Throttle, "odd") is None


def test_whatever_was_refused_the_catalog_reads_as_before(rows: Catalog, plain: PlainSql) -> None:
    before = Catalog(rows.engine).snapshot().tables
    for row in DECLARED:
        for column in row.table.columns:
            if column.kind is not ColumnKind.TEXT or column.choices:
                refused(plain, row.table.name, column.name, "'{odd: words'")
    after = Catalog(rows.engine).snapshot()
    text = (ColumnKind.NAMES, ColumnKind.POLICY)
    for row in DECLARED:
        kept = [c.name for c in row.table.columns if c.kind not in text]
        for key, was in before[row.table.name].items():
            now = after.table(row)[key]
            assert [getattr(now, name) for name in kept] == [getattr(was, name) for name in kept]
