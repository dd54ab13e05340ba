"""`checks try --jsonl`: what cannot be tried is answered with its reason, and spoils nothing."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from queue import Queue
from typing import Any

import pytest
from pyspark.sql import SparkSession

from goldsmith.checks.json_lines import answers
from goldsmith.checks.try_checks import answer

NOT_NULL = {"type": "not_null", "column": "a"}
GOOD = {"id": "good", "schema": "a int", "rows": [{"a": 1}], "checks": [NOT_NULL]}

#: A case by what is wrong with it, and the code of its error.
BAD: list[tuple[dict[str, Any], str]] = [
    ({"schema": "a nonsense type"}, "BadRows"),
    ({"schema": 5}, "BadRows"),
    ({"schema": "a int NOT NULL", "rows": [{"a": None}]}, "BadRows"),
    ({"rows": [{"a": "x"}]}, "BadRows"),
    ({"rows": [{"a": 1.5}]}, "BadRows"),
    ({"rows": [{"a": 2**40}]}, "BadRows"),
    ({"rows": [{"a": 1, "surplus": 2}]}, "BadRows"),
    ({"rows": [1]}, "BadRows"),
    ({"rows": {"a": 1}}, "BadRows"),
    ({"schema": "a date", "rows": [{"a": "2024-02-30"}]}, "BadRows"),
    ({"schema": "a decimal(5,2)", "rows": [{"a": "12345.6"}]}, "BadRows"),
    ({"schema": "a boolean", "rows": [{"a": 0}]}, "BadRows"),
    ({"surplus": 1}, "BadRows"),
    ({"now": "yesterday"}, "BadRows"),
    ({"datasets": [1]}, "BadRows"),
    ({"datasets": {"x": 5}}, "BadRows"),
    ({"checks": [5]}, "BadRows"),
    ({"checks": [{"column": "a"}]}, "BadRows"),
    ({"checks": [{"type": "no_such_check"}]}, "UnknownName"),
    ({"checks": [{"type": "not_null", "column": "b"}]}, "ColumnNotThere"),
    ({"checks": [{"type": "in_range", "column": "a", "min": "x"}]}, "ValueOfAnotherType"),
    ({"checks": [{"type": "in_range", "column": "a", "min": [1]}]}, "BadCheck"),
    ({"checks": [{"type": "regex", "column": "a", "pattern": "("}]}, "BadCheck"),
    ({"checks": [{"type": "expression", "sql": "a >"}]}, "CheckRaised"),
    ({"checks": [{"type": "not_null", "column": "a", "where": "b = 1"}]}, "CheckRaised"),
    ({"schema": "a string", "rows": [], "checks": [{"type": "sum", "column": "a", "min": 0}]},
     "WrongColumnType"),
    ({"schema": None, "rows": []}, "ColumnNotThere"),
]  # fmt: skip


def test_what_is_wrong_with_a_case_is_said_and_its_checks_fail(quick: SparkSession) -> None:
    for wrong, code in BAD:
        answered = answer(quick, {**GOOD, **wrong})
        assert answered["error"] is not None, wrong
        assert answered["error"].startswith(f"{code}: "), answered
        assert answered["verdicts"] == [{"passed": False, "broken": None, "observed": None}], wrong


def test_a_check_that_cannot_be_put_leaves_the_others_their_verdicts(quick: SparkSession) -> None:
    checks = [{"type": "nope"}, NOT_NULL, {"type": "expression", "sql": "b > 1"}]
    answered = answer(quick, {**GOOD, "checks": checks})
    assert [verdict["passed"] for verdict in answered["verdicts"]] == [False, True, False]
    assert answered["error"].startswith("UnknownName: ")


@pytest.mark.parametrize(
    ("schema", "rows", "check", "passed"),
    [
        (None, [{"a": 1}, {"a": None}], NOT_NULL, False),
        (None, [{"a": 1}, {}], NOT_NULL, False),
        (None, [{"a": 2**70}], {"type": "in_range", "column": "a", "min": 2**70}, True),
        (None, [{"a": {"b": 1}}, {"a": {"c": [1]}}], {"type": "not_null", "column": "a.b"}, False),
        ("a date", [{"a": "2024-02-29"}], {"type": "in_range", "column": "a", "max": "2024-02-29"},
         True),
        ("a timestamp", [{"a": "2024-01-01T02:00:00+02:00"}],
         {"type": "one_of", "column": "a", "values": ["2024-01-01 00:00:00"]}, True),
        ("a decimal(10,2)", [{"a": "1.10"}, {"a": 1.1}],
         {"type": "in_range", "column": "a", "min": 1.1, "max": "1.1"}, True),
        ("a double", [{"a": float("nan")}, {"a": "Infinity"}],
         {"type": "in_range", "column": "a", "max": 5}, False),
        ("`odd name` int", [{"odd name": 1}], {"type": "not_null", "column": "odd name"}, True),
        ("", [{}], {"type": "row_count", "equals": 1}, True),
        ("s struct<x: int>", [{"s": {"x": 1}}, {"s": None}],
         {"type": "not_null", "column": "s.x"}, False),
    ],
)  # fmt: skip
def test_rows_are_read_as_the_schema_has_them(
    quick: SparkSession, schema: str | None, rows: list[Any], check: Any, passed: bool
) -> None:
    answered = answer(quick, {"id": 1, "schema": schema, "rows": rows, "checks": [check]})
    assert answered["error"] is None
    assert answered["verdicts"][0]["passed"] is passed


def test_lines_are_answered_in_order_whatever_is_between(quick: SparkSession) -> None:
    good = [{**GOOD, "id": number} for number in range(6)]
    lines = [json.dumps(case).encode() for case in good]
    lines[2:2] = [b"{no json", b"\xff\xfe", b"", b"[1]", b'"text"', b"null"]
    results = list(answers(quick, io.BytesIO(b"\n".join(lines))))
    assert [result["id"] for result in results] == [0, 1, *[None] * 5, 2, 3, 4, 5]
    assert [result["error"] is None for result in results] == [
        True,
        True,
        *[False] * 5,
        *[True] * 4,
    ]


def test_who_waits_for_an_answer_before_the_next_case_gets_it(quick: SparkSession) -> None:
    queue: Queue[dict[str, Any] | None] = Queue()

    def lines() -> Iterator[bytes]:
        while (case := queue.get()) is not None:
            yield json.dumps(case).encode()

    results = answers(quick, lines())
    for number in range(3):
        queue.put({**GOOD, "id": number})
        assert next(results)["id"] == number
    queue.put(None)
    assert list(results) == []
