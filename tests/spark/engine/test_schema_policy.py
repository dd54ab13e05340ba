"""What a stage does with columns and types that its target does not have."""

from __future__ import annotations

from typing import Any

import pytest

from spark.engine.conftest import Bench
from spark.engine.test_stages import BRONZE, SILVER

#: Order 2 has a column of its own, and the amount of order 3 is no number.
CHANGED = SILVER.replace(
    "SELECT id, amount, at FROM",
    "SELECT id, IF(id = 3, 'x', string(amount)) amount, at, IF(id = 2, 'new', NULL) extra FROM",
)
FOUND: dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]], int]] = {
    "discard_value": (("id", "amount"), [(1, 10), (2, 20), (3, None), (4, 40)], 0),
    "discard_row": (("id", "amount"), [(1, 10), (4, 40)], 2),
    "{columns: evolve, types: discard_value}": (
        ("id", "amount", "extra"),
        [(1, 10, None), (2, 20, "new"), (3, None, None), (4, 40, None)],
        0,
    ),
    "{columns: discard_row, types: discard_value}": (
        ("id", "amount"),
        [(1, 10), (3, None), (4, 40)],
        1,
    ),
}


def loaded(bench: Bench, changed: str) -> Any:
    """The second load of a table, after the stage's SQL was changed."""
    bench.apply(BRONZE)
    bench.apply(SILVER)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.run()
    bench.apply(changed)
    bench.bring("b.jsonl", *({"id": n, "amount": n * 10} for n in (2, 3, 4)))
    return bench.run()[2]


@pytest.mark.parametrize("policy", FOUND)
def test_what_the_target_has_no_place_for_goes_as_the_policy_says(
    bench: Bench, policy: str
) -> None:
    columns, rows, left_out = FOUND[policy]
    done = loaded(bench, f"{CHANGED}    schema_policy: {policy}\n")
    assert (done.status, done.rows_dropped) == ("succeeded", left_out)
    silver = bench.spark.table(f"lake.silver.silver_{bench.tag}")
    assert {*silver.columns} == {*columns, "at"}
    assert sorted(map(tuple, silver.select(*columns).collect()), key=str) == rows


@pytest.mark.parametrize("policy", ["freeze", "evolve"])
def test_nothing_is_published_where_no_policy_says_what_to_do(bench: Bench, policy: str) -> None:
    done = loaded(bench, f"{CHANGED}    schema_policy: {policy}\n")
    assert (done.status, done.error_code) == ("failed", "SchemaMismatch")
    assert "column 'amount' is string and the target's is bigint" in str(done.error_message)
    assert ("column 'extra' (string) is new" in str(done.error_message)) == (policy == "freeze")
    assert bench.rows("silver", "id", "amount") == [(1, 10)]
    assert "extra" not in bench.spark.table(f"lake.silver.silver_{bench.tag}").columns
    # Mended, what was held back comes.
    bench.apply(SILVER)
    bench.run()
    assert bench.rows("silver", "id") == [(1,), (2,), (3,), (4,)]


def test_columns_in_another_order_are_found_by_their_names(bench: Bench) -> None:
    done = loaded(bench, SILVER.replace("SELECT id, amount, at", "SELECT at, amount, id"))
    assert done.status == "succeeded"
    assert bench.rows("silver", "id", "amount") == [(1, 10), (2, 20), (3, 30), (4, 40)]
