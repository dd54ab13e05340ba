from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.retries import RetryPolicy
from goldsmith.journal import events, incidents, requests, runs, stage_runs
from goldsmith.journal.owners import Owner, this_host
from goldsmith.journal.tables import LEFT_OUT, Request, Run, StageRun
from goldsmith.runtime import Runtime
from goldsmith.worker import incidents as scheduling_incidents
from goldsmith.worker import requeue

ROWS = (
    Pipeline(pipeline_id="p"),
    Source(source_id="raw", s3_path="s3://x/raw/", file_format="csv"),
    Target(target_id="a", location="s3://x/a/", type="s3"),
    Target(target_id="b", location="s3://x/b/", type="s3"),
    Stage(pipeline_id="p", stage_order=1, source_id="raw", target_id="a"),
    Stage(pipeline_id="p", stage_order=2, source_id="a", target_id="b"),
)


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    (tmp_path / "goldsmith.toml").write_text('name = "standing"\n')
    made = Runtime.of({}, project=tmp_path, environment=None, cwd=tmp_path)
    assert made.settings.catalog.file is not None
    made.settings.catalog.file.parent.mkdir(parents=True)
    Catalog.open(made.settings.catalog.url, create=True).close()
    with made.catalog.change(actor="test") as change:
        change.put(ROWS)
    yield made
    made.close()


def flag(runtime: Runtime, entity: str, *, enabled: bool) -> None:
    row = Flag(entity_type="stage", entity_id=entity, flag_name="enabled", flag_value=enabled)
    with runtime.catalog.change(actor="test") as change:
        change.put([row])


def stopped_at_the_first_stage(runtime: Runtime, *, left: tuple[str, ...] = ()) -> None:
    """A request whose first stage was stopped once; healing left it some stages to try again."""
    journal = runtime.journal
    options = {"healing": {"stages": list(left)}} if left else {}
    request = Request(request_id="r", selection=("p",), options=options, asked_by="test")
    requests.put(journal, request)
    requests.take(journal, "r", "worker")
    run = runs.start_run(journal, Run(run_id="run", request_id="r", pipeline_id="p"))
    tried = StageRun(stage_run_id="try", run_id=run.run_id, pipeline_id="p", stage_order=1)
    stage_runs.pass_over(journal, tried, events.StageStopped(because="a flag"))
    runs.finish_run(journal, run.run_id, events.RunStopped(because="a flag"))
    requests.stopped(journal, "r", because="a flag", run_ids=["run"])


def test_a_request_waits_again_once_what_stopped_it_is_gone(runtime: Runtime) -> None:
    flag(runtime, "p-1", enabled=False)
    stopped_at_the_first_stage(runtime)
    assert requeue.requeue_released_requests(runtime) == []
    flag(runtime, "p-1", enabled=True)
    assert [request.request_id for request in requeue.requeue_released_requests(runtime)] == ["r"]


def test_a_request_stays_stopped_while_all_that_is_left_of_it_is_stopped(runtime: Runtime) -> None:
    flag(runtime, "p-2", enabled=False)
    stopped_at_the_first_stage(runtime, left=("p-2",))
    assert requeue.requeue_released_requests(runtime) == []
    flag(runtime, "p-2", enabled=True)
    assert [request.request_id for request in requeue.requeue_released_requests(runtime)] == ["r"]


def test_a_stage_that_is_not_enabled_holds_up_no_request_that_had_not_begun_it(
    runtime: Runtime,
) -> None:
    flag(runtime, "p-1", enabled=False)
    requests.put(runtime.journal, Request(request_id="r", selection=("p",), asked_by="test"))
    requests.stopped(runtime.journal, "r", because="a flag")
    with runtime.catalog.change(actor="test") as change:
        change.put([ROWS[5].with_(enabled=False)])
    assert requeue.requeue_released_requests(runtime) == []
    flag(runtime, "p-1", enabled=True)
    assert [request.request_id for request in requeue.requeue_released_requests(runtime)] == ["r"]


def test_a_request_stopped_by_a_row_stays_so_until_the_row_is_enabled(runtime: Runtime) -> None:
    stopped_at_the_first_stage(runtime)
    with runtime.catalog.change(actor="test") as change:
        change.put([ROWS[4].with_(enabled=False)])
    assert requeue.requeue_released_requests(runtime) == []
    with runtime.catalog.change(actor="test") as change:
        change.put([ROWS[4]])
    assert [request.request_id for request in requeue.requeue_released_requests(runtime)] == ["r"]


@pytest.fixture(scope="module")
def dead() -> str:
    """A worker of this machine that is no more."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return str(Owner(host=this_host(), pid=process.pid, start="1"))


def dies(runtime: Runtime, worker: str, name: str, *, under_way: bool = True) -> Request:
    """A worker takes the request and dies, a stage under way or not yet; then somebody looks."""
    journal = runtime.journal
    assert requests.take(journal, "r", worker) is not None
    run = runs.start_run(journal, Run(run_id=f"run-{name}", request_id="r", pipeline_id="p"))
    if under_way:
        tried = StageRun(
            stage_run_id=f"try-{name}",
            run_id=run.run_id,
            pipeline_id="p",
            stage_order=1,
            target_id="a",
        )
        stage_runs.start_stage_run(journal, tried)
    requeue.requeue_dead_workers_requests(runtime)
    return requests.get(journal, "r")


@pytest.mark.parametrize("under_way", [True, False])
def test_a_request_that_keeps_killing_its_workers_ends_failed(
    runtime: Runtime, dead: str, under_way: bool
) -> None:
    requests.put(runtime.journal, Request(request_id="r", selection=("p",), asked_by="test"))
    for number in (1, 2, 3):
        left = dies(runtime, dead, str(number), under_way=under_way)
        assert (left.status, left.attempt, left.not_before) == ("waiting", number + 1, None)
    failed = dies(runtime, dead, "4", under_way=under_way)

    assert failed.status == "failed"
    assert failed.because == "its worker died 4 times [WorkerLost]"
    [incident] = incidents.listed(runtime.journal)
    assert (incident.about, incident.error_code) == ("stage:p-1", "WorkerLost")
    assert all(run.ended_at for run in runs.recent_runs(runtime.journal, request_id="r"))


@pytest.mark.parametrize("died", [True, False])
def test_a_request_whose_runs_succeeded_unrecorded_does_not_run_again(
    runtime: Runtime, dead: str, died: bool
) -> None:
    journal = runtime.journal
    requests.put(journal, Request(request_id="r", selection=("p",), asked_by="test"))
    requests.take(journal, "r", dead if died else "me")
    run = runs.start_run(journal, Run(run_id="run", request_id="r", pipeline_id="p"))
    runs.finish_run(journal, run.run_id)
    if died:
        requeue.requeue_dead_workers_requests(runtime)
    else:
        requeue.requeue_dropped_requests(runtime, "me", ())
    ended = requests.get(journal, "r")
    assert (ended.status, ended.run_ids) == ("done", ("run",))


def test_a_death_counts_as_a_try_of_the_stages_own_policy(runtime: Runtime, dead: str) -> None:
    with runtime.catalog.change(actor="test") as change:
        change.put([RetryPolicy(retry_id="once", max_retries=1, backoff_sec=600)])
        change.put([ROWS[0].with_(default_retry_id="once")])
    requests.put(runtime.journal, Request(request_id="r", selection=("p",), asked_by="test"))
    left = dies(runtime, dead, "1")
    # Whoever comes next has waited long enough.
    assert (left.status, left.not_before) == ("waiting", None)
    assert dies(runtime, dead, "2").status == "failed"
    kinds = ("RemedyChosen", "RetryScheduled", "StageHeld", "IncidentOpened")
    recorded = [f"{e.kind} {e.error_code}" for e in runtime.journal.read(kinds=kinds)]
    assert recorded == [
        *("RemedyChosen WorkerLost", "RetryScheduled WorkerLost"),
        *("StageHeld WorkerLost", "IncidentOpened WorkerLost"),
    ]


def test_a_request_its_worker_lost_hold_of_waits_again(runtime: Runtime) -> None:
    requests.put(runtime.journal, Request(request_id="r", selection=("p",), asked_by="test"))
    requests.take(runtime.journal, "r", "me")
    runs.start_run(runtime.journal, Run(run_id="run", request_id="r", pipeline_id="p"))
    assert requeue.requeue_dropped_requests(runtime, "me", {"r"}) == []
    assert requeue.requeue_dropped_requests(runtime, "another", ()) == []
    [back] = requeue.requeue_dropped_requests(runtime, "me", ())
    assert (back.status, back.worker) == ("waiting", None)
    assert runs.recent_runs(runtime.journal, request_id="r")[0].status == "interrupted"


def test_a_stage_that_was_left_out_is_not_fresh(runtime: Runtime) -> None:
    journal = runtime.journal
    run = runs.start_run(journal, Run(run_id="run", pipeline_id="p"))
    for order, (target, facts) in enumerate([("a", {}), ("b", {LEFT_OUT: True})], start=1):
        passed = StageRun(
            stage_run_id=f"try-{target}",
            run_id=run.run_id,
            pipeline_id="p",
            stage_order=order,
            target_id=target,
            facts=facts,
        )
        stage_runs.pass_over(journal, passed, events.StageSkipped(because="so it is"))
    updated = {
        dataset.dataset_id: dataset.last_update
        for dataset in scheduling_incidents.freshness(runtime)
    }
    assert updated["a"] is not None
    assert updated["b"] is None


def test_several_who_find_the_dead_at_once_put_each_request_back_once(
    runtime: Runtime, dead: str
) -> None:
    names = [f"r{number}" for number in range(8)]
    for name in names:
        requests.put(runtime.journal, Request(request_id=name, selection=("p",), asked_by="test"))
        requests.take(runtime.journal, name, dead)
    start = threading.Barrier(4)

    def look(_: int) -> list[Request]:
        start.wait()
        return requeue.requeue_dead_workers_requests(runtime)

    with ThreadPoolExecutor(4) as several:
        back = [request.request_id for found in several.map(look, range(4)) for request in found]
    assert sorted(back) == names
