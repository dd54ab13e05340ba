"""Micro-batches fit the budget, metrics count what they say, and without the catalog less goes."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.throttle_metrics import METRICS, metric_names, metric_of
from goldsmith.catalog.throttles import Throttle
from goldsmith.engine.pace.buckets import HeldTokens, TokenWait, TokenWish, rate_of
from goldsmith.engine.pace.safe_buckets import SafeBuckets, safe_rate
from goldsmith.engine.pace.sizes import RecordCounts
from goldsmith.engine.pace.stage_pace import Budget, MicroBatch, PacedFile, fill
from goldsmith.planning.stage_context import Dataset
from goldsmith.planning.throttled import Direction, throttles_of

CASES = Path(__file__).parents[3] / "cases" / "throttles"


def throttle(**columns: Any) -> Throttle:
    row = {"throttle_id": "t", "entity_type": "source", "entity_id": "raw", "threshold": 100.0}
    return Throttle(**{**row, "metric": "records_per_second", **columns})


def batch(records: float = 0, size: float = 0, files: int = 1) -> MicroBatch:
    some = tuple(PacedFile(address=str(n), bytes=0) for n in range(files))
    return MicroBatch(files=some, records=records, bytes=size)


def test_every_metric_has_a_case_and_says_what_it_counts() -> None:
    assert {file.stem for file in CASES.glob("*")} == set(METRICS.names())
    for name in METRICS.names():
        for case in yaml.safe_load((CASES / f"{name}.yaml").read_text()):
            row = throttle(metric=METRICS.get(name).name, **case["row"])
            if "per_second" in case:
                rate = rate_of(row)
                assert (rate.per_second, rate.burst) == (case["per_second"], case["burst"])
            of = batch(case["batch"]["records"], case["batch"]["bytes"], case["batch"]["files"])
            assert of.tokens(row) == case["tokens"], case["says"]


def test_metrics_are_spelled_as_in_the_seed_and_found_in_any_case() -> None:
    assert {"records_per_minute", "GB_per_hour", "MB_per_second"} <= set(metric_names())
    assert metric_of("gb_per_HOUR") is METRICS.get("gb_per_hour")
    assert metric_of("rows") is None
    assert metric_of(None) is None


@given(
    st.lists(st.integers(0, 5000), min_size=1, max_size=60),
    st.floats(1, 5000),
    st.integers(1, 20),
)
def test_batches_hold_every_file_once_and_only_a_single_file_exceeds_the_budget(
    sizes: list[int], most: float, requests: int
) -> None:
    files = [PacedFile(address=str(n), bytes=size) for n, size in enumerate(sizes)]
    left, budget, seen = deque(files), Budget(bytes=most, requests=requests), []
    while left:
        found = fill(left, budget, lambda file: 0.0)
        assert found.files
        assert budget.holds(found) or len(found.files) == 1
        assert found.bytes == sum(file.bytes for file in found.files)
        seen += found.files
    assert seen == files


def test_the_budget_is_half_the_burst_of_the_throttle_that_leaves_least() -> None:
    budget = Budget.of(
        [
            throttle(threshold=100),
            throttle(metric="records_per_minute", threshold=1200),
            throttle(metric="MB_per_second", burst=10),
            throttle(metric="concurrent_stages", threshold=1),
        ]
    )
    assert budget == Budget(records=30, bytes=5e6, requests=None)
    everything = deque([PacedFile(address=str(n), bytes=10**9) for n in range(50)])
    assert len(fill(everything, Budget(), lambda file: 0.0).files) == 50


def test_records_are_learned_from_what_was_read() -> None:
    counts = RecordCounts(None, None)  # type: ignore[arg-type]
    file = PacedFile(address="a.jsonl", bytes=1000)
    assert counts.is_guess
    assert counts.of(file) == 10
    counts.learn(50, 1000)
    assert not counts.is_guess
    assert counts.of(file) == 50


def test_without_the_catalog_the_safe_threshold_holds_in_this_process() -> None:
    now = [0.0]
    safe = SafeBuckets(lambda: now[0])
    row = throttle(threshold=1000, safe_threshold=10)
    assert safe_rate(rate_of(row)).burst == pytest.approx(30)
    first = safe.acquire([TokenWish(throttle=row, tokens=30)])
    assert isinstance(first, HeldTokens)
    wait = safe.acquire([TokenWish(throttle=row, tokens=10)])
    assert isinstance(wait, TokenWait)
    assert (wait.seconds, "safe rate" in wait.because) == (pytest.approx(1.0), True)
    assert safe.settle(first.lease_id, {"t": 10})
    assert isinstance(safe.acquire([TokenWish(throttle=row, tokens=10)]), HeldTokens)
    assert not safe.settle("tokens-of-the-catalog", {})
    # Unset it is a tenth.
    assert rate_of(throttle(threshold=1000)).safe_per_second == 100


def test_without_the_catalog_slots_are_counted_here() -> None:
    safe, row = SafeBuckets(), throttle(metric="concurrent_stages", threshold=20)
    held = [safe.acquire([TokenWish(throttle=row, tokens=1)]) for _ in range(3)]
    assert [isinstance(each, HeldTokens) for each in held] == [True, True, False]
    assert isinstance(held[0], HeldTokens)
    safe.settle(held[0].lease_id, {})
    assert isinstance(safe.acquire([TokenWish(throttle=row, tokens=1)]), HeldTokens)


RAW = Dataset("raw", Source(source_id="raw", s3_path="s3://shared/raw/"), None, ())
GOLD = Dataset(
    "gold",
    None,
    Target(
        target_id="gold", location="gold.sales", type="redshift", options={"throttle_group": "g"}
    ),
    (),
)


@pytest.mark.parametrize(
    ("row", "dataset", "direction", "applies"),
    [
        ({}, RAW, Direction.READ, True),
        ({}, RAW, Direction.LOAD, False),
        ({"entity_id": "other"}, RAW, Direction.READ, False),
        ({"entity_type": "target", "entity_id": "gold"}, GOLD, Direction.LOAD, True),
        ({"entity_type": "target", "entity_id": "gold"}, GOLD, Direction.READ, False),
        ({"entity_type": "group", "entity_id": "s3://shared/"}, RAW, Direction.READ, True),
        ({"entity_type": "group", "entity_id": "s3://shared"}, RAW, Direction.READ, True),
        ({"entity_type": "group", "entity_id": "s3://share"}, RAW, Direction.READ, False),
        ({"entity_type": "group", "entity_id": "redshift"}, GOLD, Direction.LOAD, True),
        ({"entity_type": "group", "entity_id": "redshift"}, GOLD, Direction.READ, True),
        ({"entity_type": "group", "entity_id": "g"}, GOLD, Direction.READ, True),
        ({"entity_type": "group", "entity_id": "gold"}, GOLD, Direction.LOAD, False),
        ({"entity_type": None}, RAW, Direction.READ, False),
    ],
)
def test_a_throttle_applies_to_its_dataset_or_its_group(
    row: dict[str, Any], dataset: Dataset, direction: Direction, applies: bool
) -> None:
    assert bool(throttles_of([throttle(**row)], dataset, direction)) == applies
