"""The goals of the profiles on the published workload, and the time of one decision.

    python bench/simulate.py [SEED…]

The published workload is seed 1: 500 pipelines, bursty, heavy-tailed, 3 hot targets, 8 slots.
"""

from __future__ import annotations

import random
import sys
from time import process_time

from goldsmith.scheduling.profiles import decide
from goldsmith.scheduling.simulate import Machine
from goldsmith.scheduling.simulation_report import compare, shipped_settings
from goldsmith.scheduling.values import QueuedStage, RunningStage, SchedulerState
from goldsmith.scheduling.workload import WorkloadShape, generate


def goals(seed: int, load: float) -> None:
    """Print what the goals say of one workload."""
    machine = Machine()
    compared = compare(generate(seed, WorkloadShape(load=load)), machine, shipped_settings())
    found = compared.measures
    fair, balanced = compared.flows["fair"], compared.flows["balanced"]
    oracle = found["oracle"].peak_to_mean
    targets = {k: v for k, v in found["balanced"].peak_to_mean.items() if k.startswith("target:")}
    above = {k: v for k, v in targets.items() if v > 1.5}
    broken = {k: v for k, v in above.items() if v > 1.1 * oracle[k]}
    print(
        f"seed {seed} load {load}:"
        f" mean flow {found['balanced'].mean_flow / found['fifo'].mean_flow:.2f} of FIFO's"
        f" (oracle {found['oracle'].mean_flow / found['fifo'].mean_flow:.2f});"
        f" slowest against fair {max(balanced[i] / fair[i] for i in fair):.2f} ×;"
        f" targets above 1.5: {len(above)} of {len(targets)}, worst"
        f" {max(targets.values()):.2f}, beyond 1.1 × the oracle's: {len(broken)};"
        f" cost {found['balanced'].cost / found['fifo'].cost:.4f} of FIFO's;"
        f" focus adds {found['focus'].critical_added_delay:.1f} s"
        f" of {machine.batch_seconds:g} allowed"
    )


def decision_time(waiting: int = 10_000) -> None:
    """Print the time of a decision over many waiting requests."""
    dice = random.Random(1)
    stages = tuple(
        QueuedStage(
            *(str(n), str(n), f"p{n}", -dice.uniform(0, 9000), 0.0),
            seconds=(size := dice.paretovariate(1.1) * 10),
            request_seconds=size,
            request_total=size,
            target=f"t{dice.randrange(50)}",
            source=f"s{n}",
            bytes_per_second=2e7,
        )
        for n in range(waiting)
    )
    running = tuple(RunningStage(stage, 0.0, 5.0) for stage in stages[:16])
    state = SchedulerState(16, stages[16:], running)
    took = []
    for _ in range(7):
        before = process_time()
        decide(state, shipped_settings(), 10.0)
        took.append(process_time() - before)
    middle = sorted(took)[3] * 1000
    print(f"deciding over {waiting:,} requests: median {middle:.0f} ms of a core, 100 allowed")


if __name__ == "__main__":
    decision_time()
    for chosen in [int(text) for text in sys.argv[1:]] or [1, 2, 3]:
        for how_full in (0.95, 1.3):
            goals(chosen, how_full)
