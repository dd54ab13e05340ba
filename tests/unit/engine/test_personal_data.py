"""Values of personal columns are masked one by one, and nothing else is."""

from __future__ import annotations

import pytest

from goldsmith.catalog.datasets import Target
from goldsmith.checks.measures import Counted, Judged
from goldsmith.checks.outcome import CheckOutcome, as_error, outcome_of, raised
from goldsmith.checks.planned_check import plan_one
from goldsmith.engine.personal_data import (
    masked,
    masked_message,
    masked_outcomes,
    masked_text,
    personal,
)

HIDE = frozenset(("email", "person.phone", "odd.name"))


def test_a_target_names_its_personal_columns_in_any_case() -> None:
    assert personal(Target(target_id="t", options={"pii": ["Email", "ssn"]})) == {"email", "ssn"}
    assert personal(Target(target_id="t", options={"pii": "Email"})) == {"email"}
    assert personal(None) == frozenset()


def test_each_personal_value_is_masked_and_no_other() -> None:
    row = {
        "id": 1,
        "EMAIL": "a@b.c",
        "emails": ["x"],
        "person": {"name": "ann", "Phone": 1, "zip": None},
        "odd.name": "x",
    }
    assert masked(row, HIDE) == {
        "id": 1,
        "EMAIL": "***",
        "emails": ["x"],
        "person": {"name": "ann", "Phone": "***", "zip": None},
        "odd.name": "***",
    }
    assert masked({"email": None, "person": [{"phone": 1}, None]}, HIDE) == {
        "email": None,
        "person": [{"phone": "***"}, None],
    }
    assert masked({"person": '{"phone": 1}'}, HIDE) == {"person": "***"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"id": "x", "email": "a@b.c"}', '{"id": "x", "email": "***"}'),
        ('{"id": 2, "email": "a@b.c", "amou', "***"),
        ("1,a@b.c,3", "***"),
        ('["a@b.c"]', "***"),
        (None, None),
    ],
)
def test_a_record_that_could_not_be_read_shows_what_is_surely_not_personal(
    text: str | None, shown: str | None
) -> None:
    assert masked_text(text, HIDE) == shown
    assert masked_text(text, frozenset()) == text


def masked_outcome(entry: dict[str, object], judged: Judged | Counted) -> CheckOutcome:
    (found,) = masked_outcomes([outcome_of(plan_one(entry), judged)], HIDE)
    return found


def test_a_check_does_not_tell_the_personal_value_it_found() -> None:
    found = masked_outcome(
        {"type": "max", "column": "email", "max": "b"},
        Judged(holds=False, observed="zoe@b.c", expected="at most b"),
    )
    assert found.observed == "***"
    assert "zoe" not in found.message
    assert "at most b" in found.message


def test_counts_and_values_of_other_columns_are_told() -> None:
    broken = masked_outcome({"type": "not_null", "column": "email"}, Counted(broken=2, of=3))
    assert "2 of 3 rows" in broken.message
    share = masked_outcome(
        {"type": "null_rate", "column": "email", "max": 0}, Judged(holds=False, observed=0.5)
    )
    assert share.observed == 0.5
    other = masked_outcome(
        {"type": "max", "column": "age", "max": 1}, Judged(holds=False, observed=9)
    )
    assert other.observed == 9


def test_an_error_does_not_quote_a_personal_value() -> None:
    check = plan_one({"type": "in_range", "column": "email", "min": 1})
    error = as_error("in_range", ValueError("The value 'a@b.c' of the type STRING cannot be cast"))
    (found,) = masked_outcomes([raised(check, error)], HIDE)
    assert "a@b.c" not in found.message


@pytest.mark.parametrize(
    "text",
    [
        '[CAST_INVALID_INPUT] The value \'a@b.c\' of the type "STRING" cannot be cast to "INT"',
        'invalid input syntax for type integer: "a@b.c"',
        "Conversion Error: Could not convert string 'a@b.c' to INT32",
        "duplicate key value violates … DETAIL: Key (email)=(a@b.c) already exists.",
        'Constraint Error: Duplicate key "email: a@b.c" violates primary key constraint.',
    ],
)
def test_a_sentence_that_quotes_a_value_is_told_without_it(text: str) -> None:
    assert "a@b.c" not in masked_message(text, HIDE)
    assert masked_message(text, frozenset()) == text
