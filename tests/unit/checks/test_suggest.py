from __future__ import annotations

import yaml

from goldsmith.catalog import bundle
from goldsmith.catalog.rules import RuleSet
from goldsmith.checks.planned_check import planned
from goldsmith.checks.profile import ColumnProfile, as_regex
from goldsmith.checks.suggest import as_yaml, suggest

KEY = ColumnProfile(
    name="id", type="bigint", rows=100, nulls=0, distinct=100, is_unique=True,
    min=1, max=100, quantiles={"0.5": 50.0},
)  # fmt: skip
STATUS = ColumnProfile(
    name="status", type="string", rows=100, nulls=10, distinct=2,
    top=[("paid", 60), ("new", 30)], patterns=[("aaaa", 60), ("aaa", 30)],
)  # fmt: skip
CODE = ColumnProfile(
    name="code", type="string", rows=100, nulls=0, distinct=80,
    top=[("AB-12", 5)], patterns=[("aa-99", 100)],
)  # fmt: skip


def test_each_rule_has_a_reason_and_can_be_planned() -> None:
    found = list(suggest([KEY, STATUS, CODE]))
    suggested = {(check["type"], check.get("column")) for check, _ in found}

    assert suggested == {
        ("row_count", None),
        ("not_null", "id"),
        ("unique", "id"),
        ("in_range", "id"),
        ("null_rate", "status"),
        ("one_of", "status"),
        ("not_null", "code"),
        ("regex", "code"),
    }
    assert all(reason for _, reason in found)
    assert len(planned([check for check, _ in found])) == len(found)


def test_what_is_suggested_can_be_applied_as_it_is() -> None:
    text = as_yaml("orders_suggested", list(suggest([KEY, STATUS, CODE])), "silver.orders")
    rows = bundle.load([("suggested.yaml", text)]).rows[RuleSet]

    (rules,) = rows.values()
    assert rules.rule_set_id == "orders_suggested"
    assert len(rules.check_def) == 8


def test_names_and_values_of_any_letters_are_written_as_they_are() -> None:
    values = ["Zürich", "東京", "a\u2028b\x85c", "x\ny"]
    found = [({"type": "one_of", "column": "städte", "values": values}, "seen: x\n- y: z")]
    text = as_yaml("bronze_ö", found, "bronze_ö")
    assert "Zürich" in as_yaml("bronze_ö", [({"values": values[:2]}, "")], "ö")
    assert '"bronze_ö"' in text
    [row] = yaml.safe_load(text)["validation_rules"]
    assert row["check_def"] == [found[0][0]]


def test_few_rows_suggest_nothing_of_their_columns() -> None:
    few = ColumnProfile(name="id", type="bigint", rows=3, nulls=0, distinct=3)
    assert [check["type"] for check, _ in suggest([few])] == ["row_count"]


def test_a_shape_is_a_regular_expression() -> None:
    import re

    pattern = as_regex("aa-99.9")
    assert re.search(pattern, "xy-12.3")
    assert not re.search(pattern, "xy-12x3")


def test_a_count_of_the_whole_table_is_no_rule_for_a_batch() -> None:
    (of_table, _), *_ = suggest([KEY])
    (of_batch, _), *_ = suggest([KEY], counts="batch")

    assert (of_table["type"], of_table["scope"]) == ("row_count", "table")
    assert "scope" not in of_batch
    assert "row_count" not in [check["type"] for check, _ in suggest([KEY], counts=None)]
