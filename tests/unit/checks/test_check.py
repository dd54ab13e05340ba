"""A check knows its settings from its signature, without Spark."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import pytest

from goldsmith.checks.check import CHECKS, EVERY_CHECK, Cost, dataset_check, row_check
from goldsmith.checks.field import Field, Number
from goldsmith.checks.outcome import CheckOutcome
from goldsmith.checks.patterns import why_not
from goldsmith.checks.planned_check import planned
from goldsmith.checks.summary import Summary


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("row_count", {"min": 1}),
        ("row_count", {"min": 0, "max": 10, "severity": "info", "name": "few", "scope": "table"}),
        ("schema_evolution", {}),
        ("schema_evolution", {"allow_nullable_addition": False}),
        ("schema_match", {"columns": ["id", "name"]}),
        ("schema_match", {"columns": {"id": "bigint"}}),
        ("not_null", {"column": "id", "mostly": 0.5, "where": "id > 0", "on_fail": "drop"}),
        ("not_null", {"column": "id", "mostly": 1}),
        ("unique", {"column": "id"}),
        ("unique", {"columns": ["id", "day"], "nulls": "broken"}),
        ("one_of", {"column": "state", "values": ["open", 3, None]}),
        ("in_range", {"column": "amount", "min": 0, "max": 9.5, "strict_max": True}),
        ("in_range", {"column": "day", "min": "2026-01-01"}),
        ("in_range", {"column": "day", "min": "{{ run_date }}"}),
        ("row_count", {"min": "{{ least }}"}),
        ("regex", {"column": "code", "pattern": "^[A-Z]{3}$"}),
        ("freshness", {"column": "at", "max_age_hours": 24}),
        ("expression", {"sql": "amount >= 0"}),
    ],
)
def test_right_settings_have_no_problems(name: str, settings: dict[str, Any]) -> None:
    assert CHECKS.get(name).problems({"type": name, **settings}) == []


@pytest.mark.parametrize(
    ("name", "settings", "problems"),
    [
        ("not_null", {}, ["needs the setting column"]),
        ("not_null", {"column": 3}, ["takes a column's name as column, and '3' is not one"]),
        (
            "not_null",
            {"column": "id", "colum": "id"},
            ["has no setting 'colum' (did you mean 'column'?)"],
        ),
        ("row_count", {}, ["needs the setting min or max or equals"]),
        ("row_count", {"min": None}, ["needs the setting min or max or equals"]),
        ("row_count", {"min": True}, ["takes a whole number as min, and 'True' is not one"]),
        ("row_count", {"min": 1.5}, ["takes a whole number as min, and '1.5' is not one"]),
        (
            "unique",
            {"columns": "id", "nulls": "maybe"},
            ["takes one of distinct, equal, broken as nulls, and 'maybe' is not one"],
        ),
        (
            "unique",
            {"columns": [1]},
            [
                "takes a column's name or a list (a column's name each) as columns, and list is"
                " not one"
            ],
        ),
        ("one_of", {"column": "a", "values": "x"}, ["takes a list as values, and 'x' is not one"]),
        (
            "row_count",
            {"min": 1, "severity": "fatal"},
            ["takes one of critical, warning, info as severity, and 'fatal' is not one"],
        ),
        (
            "row_count",
            {"min": 1, "mostly": 95},
            ["takes a number from 0 to 1 as mostly, and '95' is not one"],
        ),
        (
            "regex",
            {"column": "a", "pattern": "(open"},
            [
                "has the pattern '(open', which does not compile: missing ), unterminated"
                " subpattern at position 0"
            ],
        ),
    ],
)
def test_wrong_settings_are_named(name: str, settings: dict[str, Any], problems: list[str]) -> None:
    assert CHECKS.get(name).problems({"type": name, **settings}) == problems


def test_the_settings_come_from_the_signature() -> None:
    @row_check(says="{column} is odd")
    def odd(
        column: str, words: Sequence[str] = (), how: Literal["a", "b"] = "a", most: float = 1
    ) -> object:
        return column, words, how, most

    assert odd.name == "odd"
    assert odd.is_row_check
    assert [setting.usage for setting in odd.settings.values()] == [
        "column (a text)",
        "words (a list (a text each), optional)",
        "how (one of a, b, optional)",
        "most (a number, optional)",
    ]
    assert odd.settings["how"].default == "a"
    assert odd.usage.endswith(f"of every check: {', '.join(EVERY_CHECK)}")


def test_what_the_evaluation_hands_in_is_no_setting() -> None:
    @dataset_check(says="the rows are odd", cost=Cost.PASS)
    def odd(rows: object, /, columns: Sequence[str]) -> list[str]:
        return [str(rows), *columns]

    assert list(odd.settings) == ["columns"]
    assert odd.injected == ("rows",)
    assert not odd.is_row_check
    assert odd.cost is Cost.PASS


def test_a_check_knows_which_of_its_settings_name_columns() -> None:
    @row_check(says="odd")
    def odd(column: Number, beside: Sequence[Field] = (), words: Sequence[str] = ()) -> object:
        return column, beside, words

    settings = {"column": "a", "beside": ["b", "c.d"], "words": ["e"], "where": "f > 1"}
    assert list(odd.columns(settings)) == ["a", "b", "c.d"]
    assert odd.settings["column"].usage == "column (a column of numbers, by name)"


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\p{L}+$",
        r"\p{IsAlphabetic}\P{Lu}",
        r"\Qa.b(\E[0-9]+",
        r"(?<year>\d{4})-\k<year>",
        r"abc(?i)def",
        r"[a-z&&[^aeiou]]",
        r"\x{1F600}",
        r"a\z",
        r"\h+\R",
        r"a++b*+",
    ],
)
def test_javas_patterns_compile(pattern: str) -> None:
    assert why_not(pattern) is None


@pytest.mark.parametrize("pattern", ["(", "[a-", "*a", "a{2,1}", r"\p{L}(", "x" * 20_000])
def test_patterns_that_do_not_compile(pattern: str) -> None:
    assert why_not(pattern)


def test_looking_at_checks_loads_neither_spark_nor_sqlglot() -> None:
    code = (
        "import sys; from goldsmith.checks.check import CHECKS; list(CHECKS.all());"
        "from goldsmith.planning.integrity.check import rules; rules();"
        "print(sorted(sys.modules.keys() & {'pyspark', 'sqlglot', 'pandas'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_summary_names_the_columns_of_each_check() -> None:
    checks = planned(
        [
            {"type": "not_null", "column": "id"},
            {"type": "unique", "columns": ["id", "day"]},
            {"type": "row_count", "min": 1},
        ]
    )
    outcomes = [CheckOutcome(planned=check, passed=True) for check in checks]
    found = Summary.of(outcomes, datetime(2026, 1, 1, tzinfo=UTC)).as_plain()["results"]
    assert [check["columns"] for check in found] == [["id"], ["id", "day"], []]
