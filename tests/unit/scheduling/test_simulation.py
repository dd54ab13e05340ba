"""The profiles do what they promise, on small workloads of several shapes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from goldsmith.scheduling.policies import ProfilePolicy
from goldsmith.scheduling.simulate import Machine, replay
from goldsmith.scheduling.simulation_report import compare, shipped_settings, slot_cost
from goldsmith.scheduling.trace import (
    BadTrace,
    TraceRun,
    TraceStage,
    periods,
    read_trace,
    write_trace,
)
from goldsmith.scheduling.workload import WorkloadShape, generate

_ARRIVALS = [
    *(("hourly", at) for at in (5, 3600, 7210)),
    *(("now and then", at) for at in (0, 10, 9000)),
    *(("twice", at) for at in (0, 3600)),
]
MACHINE = Machine(slots=4, batch_seconds=10)
SMALL = WorkloadShape(pipelines=80, hours=1, slots=4, load=1.2)


def flows(runs: Sequence[TraceRun], profile: str) -> dict[int, float]:
    found = replay(runs, ProfilePolicy(profile, shipped_settings()), MACHINE)
    return {run.index: run.flow for run in found.runs}


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_balanced_beats_fifo_without_higher_cost_or_hotter_targets(seed: int) -> None:
    compared = compare(generate(seed, SMALL), MACHINE, shipped_settings(), seed=seed)
    fifo, balanced = compared.measures["fifo"], compared.measures["balanced"]
    oracle = compared.measures["oracle"]
    assert balanced.mean_flow <= 0.75 * fifo.mean_flow
    assert balanced.cost <= fifo.cost * (1 + 1e-9)
    hot = {
        endpoint: (ratio, oracle.peak_to_mean[endpoint])
        for endpoint, ratio in balanced.peak_to_mean.items()
        if endpoint.startswith("target:") and ratio > max(1.5, 1.1 * oracle.peak_to_mean[endpoint])
    }
    assert hot == {}


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_balanced_slows_no_run_down_more_than_three_times_fair_sharing(seed: int) -> None:
    compared = compare(generate(seed, SMALL), MACHINE, shipped_settings(), seed=seed)
    fair, balanced = compared.flows["fair"], compared.flows["balanced"]
    assert max(balanced[index] / fair[index] for index in fair) <= 3


@pytest.mark.parametrize("seed", [1, 2])
def test_a_flat_load_slows_nobody_down_much_where_slots_are_free(seed: int) -> None:
    runs = generate(seed, WorkloadShape(pipelines=120, hours=1.5, slots=16, load=0.8))
    compared = compare(runs, Machine(slots=16, batch_seconds=10), shipped_settings(), seed=seed)
    fair, balanced = compared.flows["fair"], compared.flows["balanced"]
    assert max(balanced[index] / fair[index] for index in fair) <= 3


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5, 6])
def test_focus_adds_at_most_a_micro_batch_to_critical_runs(seed: int) -> None:
    compared = compare(generate(seed, SMALL), MACHINE, shipped_settings(), seed=seed)
    assert compared.measures["focus"].critical_added_delay <= MACHINE.batch_seconds


def test_without_critical_work_focus_is_balanced() -> None:
    runs = generate(7, WorkloadShape(pipelines=60, hours=1, slots=4, critical_share=0))
    assert flows(runs, "focus") == flows(runs, "balanced")


def test_a_critical_run_starts_at_the_next_micro_batch_of_a_full_machine() -> None:
    long = [TraceRun(f"long_{n}", 0, (TraceStage(1000),), "normal") for n in range(8)]
    critical = TraceRun("alert", 103, (TraceStage(30), TraceStage(20)), "critical")
    assert flows([*long, critical], "focus")[8] <= 50 + MACHINE.batch_seconds


def test_upstreams_of_a_critical_run_are_promoted_with_it() -> None:
    long = [TraceRun(f"long_{n}", 0, (TraceStage(1000),)) for n in range(8)]
    upstream = TraceRun("prepare", 1, (TraceStage(900),), "low")
    critical = TraceRun("alert", 5, (TraceStage(30),), "critical", ("prepare",))
    assert flows([*long, upstream, critical], "focus")[9] <= 930 + 2 * MACHINE.batch_seconds


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(WorkloadShape(pipelines=60, hours=0.01, slots=4, load=80), id="all at once"),
        pytest.param(
            WorkloadShape(pipelines=60, hours=1, slots=4, hot_targets=1, hot_share=1),
            id="one hot target",
        ),
        pytest.param(
            WorkloadShape(pipelines=60, hours=1, slots=4, critical_share=1), id="only critical"
        ),
        pytest.param(WorkloadShape(pipelines=60, hours=1, slots=4, after_share=0.9), id="chains"),
    ],
)
def test_every_run_ends_exactly_once_under_every_policy(shape: WorkloadShape) -> None:
    runs = generate(3, shape)
    compared = compare(runs, MACHINE, shipped_settings())
    for found in compared.flows.values():
        assert sorted(found) == list(range(len(runs)))
    assert len({round(measured.cost, 3) for measured in compared.measures.values()}) == 1


def test_the_output_has_the_published_keys() -> None:
    plain = compare(generate(1, SMALL), MACHINE, shipped_settings()).as_plain()
    assert list(plain) == ["fifo", "fair", "priority", "shortest", "oracle", "balanced", "focus"]
    for measured in plain.values():
        assert list(measured) == [
            *("mean_flow", "p95_flow", "peak_to_mean"),
            *("cost", "critical_added_delay", "max_slowdown"),
        ]


def test_a_pipeline_that_arrives_at_regular_times_has_a_period() -> None:
    runs = [TraceRun(name, at, (TraceStage(1),)) for name, at in _ARRIVALS]
    assert periods(runs) == {"hourly": 3595}


def test_a_trace_reads_back_as_written() -> None:
    runs = generate(5, SMALL)
    assert read_trace(write_trace(runs)) == runs


@pytest.mark.parametrize(
    ("line", "because"),
    [
        ("{", "not JSON"),
        ('{"pipeline": "a", "arrives": -1, "stages": [{"seconds": 1}]}', "0 or more"),
        ('{"pipeline": "a", "arrives": 0, "stages": []}', "empty"),
        ('{"pipeline": "a", "arrives": 0, "stages": [{"seconds": 1}], "after": ["a"]}', "circle"),
        ('{"pipeline": "a", "arrives": 0, "stages": [{"seconds": 1}], "after": ["b"]}', "'b'"),
        ('{"pipeline": "a", "arrives": 0, "stages": [{"secs": 1}]}', "secs"),
        ('{"pipeline": "a", "criticality": "x", "arrives": 0, "stages": []}', "criticality"),
    ],
)
def test_a_bad_line_of_a_trace_is_refused(line: str, because: str) -> None:
    with pytest.raises(BadTrace, match=because):
        read_trace([line])


def test_cost_follows_the_price_of_each_hour() -> None:
    prices = [1.0] * 24
    prices[1] = 3.0
    assert slot_cost([(3500, 3700)], prices) == pytest.approx(100 + 3 * 100)
