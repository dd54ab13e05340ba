"""Compare policies on one workload: the measures of docs/scheduling.md, as values and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from goldsmith.scheduling.policies import ProfilePolicy, baseline_policies
from goldsmith.scheduling.profiles import settings_from_rows
from goldsmith.scheduling.simulate import Machine, Policy, PolicyReplay, replay
from goldsmith.scheduling.trace import TraceRun, upstream_runs
from goldsmith.scheduling.values import BALANCED, CRITICAL, FOCUS, ProfileSettings

_COLORS = ("#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1")


@dataclass(frozen=True, slots=True)
class PolicyMeasures:
    """How a policy did; times in seconds."""

    mean_flow: float
    p95_flow: float
    peak_to_mean: Mapping[str, float]
    cost: float
    critical_added_delay: float
    max_slowdown: float

    def as_plain(self) -> dict[str, Any]:
        return {
            "mean_flow": round(self.mean_flow, 3),
            "p95_flow": round(self.p95_flow, 3),
            "peak_to_mean": {name: round(x, 4) for name, x in self.peak_to_mean.items()},
            "cost": round(self.cost, 3),
            "critical_added_delay": round(self.critical_added_delay, 3),
            "max_slowdown": round(self.max_slowdown, 4),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """All policies on one workload."""

    measures: Mapping[str, PolicyMeasures]
    flows: Mapping[str, Mapping[int, float]]
    minutes: Mapping[str, Mapping[str, Mapping[int, float]]]

    def as_plain(self) -> dict[str, Any]:
        return {name: measured.as_plain() for name, measured in self.measures.items()}


def shipped_settings(
    rows: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[str, ProfileSettings]:
    """The settings of balanced and focus, with changed rows."""
    rows = rows or {}
    return {name: settings_from_rows(name, rows.get(name, {})) for name in (BALANCED, FOCUS)}


def compare(
    workload: Sequence[TraceRun],
    machine: Machine,
    settings: Mapping[str, ProfileSettings],
    *,
    seed: int = 0,
) -> Comparison:
    """Replay the workload under every policy and measure it."""
    policies: dict[str, Policy] = dict(baseline_policies())
    for name in (BALANCED, FOCUS):
        policies[name] = ProfilePolicy(name, settings)
    alone = flows_alone(workload)
    undisturbed = critical_alone(workload, machine, settings, seed=seed)
    prices = settings[BALANCED].prices
    replays = {
        name: replay(workload, policy, machine, seed=seed) for name, policy in policies.items()
    }
    return Comparison(
        measures={
            name: measure(workload, found, alone, undisturbed, prices)
            for name, found in replays.items()
        },
        flows={name: {r.index: r.flow for r in found.runs} for name, found in replays.items()},
        minutes={
            name: {
                endpoint: found.usage.minutes(endpoint) for endpoint in found.usage.peak_to_mean()
            }
            for name, found in replays.items()
        },
    )


def measure(
    workload: Sequence[TraceRun],
    found: PolicyReplay,
    alone: Sequence[float],
    undisturbed: Mapping[int, float],
    prices: Sequence[float],
) -> PolicyMeasures:
    """The measures of one policy."""
    flows = {run.index: run.flow for run in found.runs}
    ordered = sorted(flows.values())
    return PolicyMeasures(
        mean_flow=sum(ordered) / len(ordered),
        p95_flow=ordered[max(0, -(-95 * len(ordered) // 100) - 1)],
        peak_to_mean=found.usage.peak_to_mean(),
        cost=slot_cost(found.held, prices),
        critical_added_delay=max(
            (max(0.0, flows[index] - flow) for index, flow in undisturbed.items()), default=0.0
        ),
        max_slowdown=max(
            (flows[index] / alone[index] for index in flows if alone[index] > 0), default=1.0
        ),
    )


def flows_alone(workload: Sequence[TraceRun]) -> list[float]:
    """The flow time of each run if only it and the runs it waits for were there."""
    upstreams = upstream_runs(workload)
    finished: dict[int, float] = {}
    for start in range(len(workload)):
        stack = [start]
        while stack:
            index = stack[-1]
            missing = [each for each in upstreams[index] if each not in finished]
            if missing:
                stack += missing
                continue
            stack.pop()
            run = workload[index]
            begins = max([run.arrives, *(finished[each] for each in upstreams[index])])
            finished[index] = begins + run.seconds
    return [finished[index] - run.arrives for index, run in enumerate(workload)]


def critical_alone(
    workload: Sequence[TraceRun],
    machine: Machine,
    settings: Mapping[str, ProfileSettings],
    *,
    seed: int = 0,
) -> dict[int, float]:
    """The flow of each critical run with only critical runs, and runs they wait for, present."""
    upstreams = upstream_runs(workload)
    kept: set[int] = set()
    stack = [index for index, run in enumerate(workload) if run.criticality == CRITICAL]
    while stack:
        index = stack.pop()
        if index not in kept:
            kept.add(index)
            stack += upstreams[index]
    if not kept:
        return {}
    order = sorted(kept)
    names = {workload[index].pipeline for index in order}
    runs = [workload[index] for index in order]
    assert all(set(run.after) <= names for run in runs)
    found = replay(runs, ProfilePolicy(FOCUS, settings), machine, seed=seed)
    return {order[run.index]: run.flow for run in found.runs if run.run.criticality == CRITICAL}


def slot_cost(held: Sequence[tuple[float, float]], prices: Sequence[float]) -> float:
    """Slot-seconds × the price of the hour of the day in which they were held."""
    if len(set(prices)) == 1:
        return prices[0] * sum(end - start for start, end in held)
    total = 0.0
    for begins, end in held:
        start = begins
        while start < end:
            hour = int(start // 3600)
            until = min(end, (hour + 1) * 3600.0)
            total += (until - start) * prices[hour % 24]
            start = until
    return total


def as_html(compared: Comparison, title: str) -> str:
    """A page without any outside file: the table, and plots of flows and hot targets."""
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{m.mean_flow:,.1f}</td><td>{m.p95_flow:,.1f}</td>"
        f"<td>{max(m.peak_to_mean.values(), default=1.0):.2f}</td><td>{m.cost:,.0f}</td>"
        f"<td>{m.critical_added_delay:,.1f}</td><td>{m.max_slowdown:,.1f}</td></tr>"
        for name, m in compared.measures.items()
    )
    curves = {
        name: [(flow, (rank + 1) / len(flows)) for rank, flow in enumerate(sorted(flows.values()))]
        for name, flows in compared.flows.items()
    }
    plots = [_plot("Share of runs (up) finished within seconds of flow time (right)", curves)]
    fifo = compared.measures["fifo"].peak_to_mean
    hottest = sorted((x for x in fifo if x.startswith("target:")), key=lambda x: -fifo[x])[:3]
    for endpoint in hottest:
        lines = {
            name: [(float(m), size) for m, size in sorted(by_endpoint.get(endpoint, {}).items())]
            for name, by_endpoint in compared.minutes.items()
            if name in ("fifo", BALANCED)
        }
        plots.append(_plot(f"Bytes per minute (up) on {endpoint} by minute (right)", lines))
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title>"
        "<style>body{font:15px sans-serif;margin:2em auto;max-width:60em}td,th{padding:.3em .8em;"
        "text-align:right}svg{width:100%;background:#fafafa}</style>"
        f"<h1>{escape(title)}</h1><table><tr><th>policy<th>mean flow s<th>p95 flow s"
        "<th>worst peak:mean<th>cost<th>critical added delay s<th>max slowdown</tr>"
        f"{rows}</table>{''.join(plots)}</html>"
    )


def _plot(title: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    width, height, pad = 900.0, 300.0, 30.0
    right = max((x for points in lines.values() for x, _ in points), default=1.0) or 1.0
    top = max((y for points in lines.values() for _, y in points), default=1.0) or 1.0
    parts = []
    for index, (name, points) in enumerate(lines.items()):
        color = _COLORS[index % len(_COLORS)]
        path = " ".join(
            f"{pad + x / right * (width - 2 * pad):.1f},"
            f"{height - pad - y / top * (height - 2 * pad):.1f}"
            for x, y in points
        )
        parts.append(f'<polyline fill="none" stroke="{color}" points="{path}"/>')
        parts.append(f'<text x="{pad + 90 * index}" y="16" fill="{color}">{escape(name)}</text>')
    scale = f'<text x="{width - 120}" y="{height - 8}">0 to {right:,.0f}</text>'
    return (
        f'<h2>{escape(title)}</h2><svg viewBox="0 0 {width:.0f} {height:.0f}">'
        f"{''.join(parts)}{scale}<text x=4 y={pad + 8}>{top:,.3g}</text></svg>"
    )
