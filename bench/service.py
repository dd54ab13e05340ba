"""What the service costs. `make bench-service`.

- how many stages that have nothing new one process passes in a second: in one run of all, and as
  requests that a worker takes one by one;
- what the service costs while it has nothing to do: the share of a core, with one worker.

Own time of a stage that runs: `python bench/engine.py --only overhead`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

GOLDSMITH = Path(sys.executable).with_name("goldsmith")


def rows(pipelines: int) -> str:
    """A catalog of pipelines that read one empty folder."""
    numbers = range(pipelines)
    return "\n".join(
        [
            "sources: [{source_id: raw, s3_path: s3://bench/none/, file_format: jsonl}]",
            "pipelines:",
            *(f"  - {{pipeline_id: p{n}}}" for n in numbers),
            "targets:",
            *(f"  - {{target_id: t{n}, location: s3://bench/t{n}/, type: s3}}" for n in numbers),
            "stages:",
            *(
                f"  - {{pipeline_id: p{n}, stage_order: 1, source_id: raw, target_id: t{n}}}"
                for n in numbers
            ),
        ]
    )


def project(folder: Path, pipelines: int) -> Any:
    """A project with these pipelines, and its open runtime."""
    from goldsmith.runtime import Runtime

    subprocess.run([GOLDSMITH, "init", folder], check=True, capture_output=True)
    (folder / ".goldsmith/s3/bench/none").mkdir(parents=True)
    file = folder / "bench.yaml"
    file.write_text(rows(pipelines))
    command = [GOLDSMITH, "--project", folder, "apply", file, "--yes"]
    subprocess.run(command, check=True, capture_output=True)
    return Runtime.of({}, project=folder, environment=None, cwd=folder)


def throughput(folder: Path, pipelines: int) -> None:
    """Print the rates."""
    from goldsmith.engine.run import ExecutionOptions
    from goldsmith.journal import requests
    from goldsmith.journal.tables import Request, RequestStatus
    from goldsmith.planning.run_options import RunOptions
    from goldsmith.worker import loop
    from goldsmith.worker.pool import Drain, work
    from goldsmith.worker.resources import worker_resources

    runtime = project(folder, pipelines)
    options = ExecutionOptions(request_id=None, run_options=RunOptions(), asked_by="bench")
    with worker_resources(runtime) as resources:
        for _ in range(2):  # the second one finds everything read
            loop.submit_request(runtime, (), {}, "bench")
            before, cpu = time.perf_counter(), time.process_time()
            loop.tick(runtime, resources, options)
            took, used = time.perf_counter() - before, time.process_time() - cpu
        print(
            f"one run of {pipelines} stages: {pipelines / took:.0f} stages/s, goal 200;"
            f" {1000 * used / pipelines:.1f} ms of a core each"
        )
        for number in range(pipelines):
            request = Request(request_id=f"r{number}", selection=(f"pipeline:p{number}",))
            requests.put(runtime.journal, request)

        def is_over() -> bool:
            return not any(
                requests.with_status(runtime.journal, status, most=1)
                for status in (RequestStatus.WAITING, RequestStatus.RUNNING)
            )

        before, cpu = time.perf_counter(), time.process_time()
        work(runtime, resources, options, Drain(), slots=4, is_enough=is_over)
        took, used = time.perf_counter() - before, time.process_time() - cpu
        print(
            f"{pipelines} requests in one worker: {pipelines / took:.0f} stages/s;"
            f" {1000 * used / pipelines:.1f} ms of a core each"
        )
    runtime.close()


def idle(folder: Path, seconds: int) -> None:
    """Print what a service and its worker cost while nothing happens."""
    from goldsmith.journal import workers

    runtime = project(folder, 20)
    command = [GOLDSMITH, "--project", folder, "serve", "--no-api", "--probe-port", "0"]
    service = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        while not workers.alive(runtime.journal):
            time.sleep(0.5)
        time.sleep(5)
        worker = _child(service.pid)
        before = {pid: _cpu(pid) for pid in (service.pid, worker)}
        time.sleep(seconds)
        for name, pid in (("service", service.pid), ("worker", worker)):
            share = (_cpu(pid) - before[pid]) / seconds
            print(f"idle {name}: {100 * share:.2f} % of a core, goal 1 for the service")
    finally:
        service.terminate()
        service.wait(60)
        runtime.close()


def _child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def _cpu(pid: int) -> float:
    import os

    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pipelines", type=int, default=200)
    arguments.add_argument("--seconds", type=int, default=30, help="how long to watch the idle one")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        throughput(Path(temporary) / "busy", given.pipelines)
        idle(Path(temporary) / "idle", given.seconds)
