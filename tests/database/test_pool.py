"""A worker that runs requests at once: signals, preemption, newer starts, duties of the service."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from goldsmith.catalog import bundle
from goldsmith.catalog.errors import CatalogTooNew
from goldsmith.engine.run import ExecutionOptions
from goldsmith.journal import incidents, requests, workers
from goldsmith.journal.tables import Request, RequestStatus
from goldsmith.planning import apply_files
from goldsmith.planning.run_options import RunOptions
from goldsmith.runtime import Runtime
from goldsmith.service.clock import Clock
from goldsmith.service.serve import ServiceState, _Turns
from goldsmith.worker import pool
from goldsmith.worker.pool import Drain
from goldsmith.worker.resources import worker_resources
from plain_sql import PlainSql
from stories.service_processes import until

CATALOG = """
pipelines: [{pipeline_id: slow}, {pipeline_id: alert}, {pipeline_id: other}]
sources: [{source_id: raw, s3_path: "s3://shop/raw/none/", file_format: jsonl}]
targets:
  - {target_id: slow, location: "s3://shop/bronze/slow/", type: s3}
  - {target_id: alert, location: "s3://shop/bronze/alert/", type: s3}
  - {target_id: other, location: "s3://shop/bronze/other/", type: s3}
stages:
  - {pipeline_id: slow, stage_order: 1, source_id: raw, target_id: slow}
  - {pipeline_id: alert, stage_order: 1, source_id: raw, target_id: alert}
  - {pipeline_id: other, stage_order: 1, source_id: raw, target_id: other}
"""


@pytest.fixture
def runtime(catalog_url: str, tmp_path: Path) -> Iterator[Runtime]:
    (tmp_path / "goldsmith.toml").write_text("", encoding="utf-8")
    (tmp_path / ".goldsmith/s3/shop/raw/none").mkdir(parents=True)
    environ = {"GOLDSMITH_CATALOG__URL": catalog_url}
    opened = Runtime.of(environ, project=tmp_path, environment=None, cwd=tmp_path)
    rows = bundle.load([("catalog.yaml", CATALOG)])
    proposal = apply_files.propose(opened.catalog_indexer, rows)
    apply_files.apply(opened.catalog_indexer, rows, proposal, actor="test", reason="the shop")
    yield opened
    opened.close()


class RunningPool:
    """A worker's pool in a thread."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.drain = Drain()
        self.turns = 0
        self.is_enough = False

    def _count(self) -> bool:
        self.turns += 1
        return self.is_enough

    def work(self, slots: int) -> None:
        options = ExecutionOptions(request_id=None, run_options=RunOptions(), asked_by="test")
        with worker_resources(self.runtime) as resources:
            pool.work(
                self.runtime, resources, options, self.drain, slots=slots, is_enough=self._count
            )

    def until_turned(self) -> None:
        """Wait until it has looked at the rows as they are now."""
        seen = self.turns
        until(lambda: self.turns >= seen + 3)

    def status(self, pipeline: str) -> str:
        return requests.get(self.runtime.journal, f"request-{pipeline}").status

    def until_done(self, *pipelines: str) -> None:
        until(lambda: {self.status(name) for name in pipelines} == {"done"})


@contextmanager
def running(runtime: Runtime, *, slots: int) -> Iterator[RunningPool]:
    made = RunningPool(runtime)
    thread = threading.Thread(target=made.work, args=(slots,))
    thread.start()
    try:
        yield made
    finally:
        made.is_enough = True
        thread.join()


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Stages stop under way; called, it waits for one that does, and then lets all go on."""
    file = tmp_path / "held"
    monkeypatch.setenv("GOLDSMITH_FAULT", f"run-started:hold={file}")

    def let_go() -> None:
        monkeypatch.delenv("GOLDSMITH_FAULT", raising=False)
        file.unlink(missing_ok=True)

    yield let_go
    let_go()


def put(runtime: Runtime, pipeline: str, **more: str) -> None:
    selection = (f"pipeline:{pipeline}",)
    name = f"request-{pipeline}"
    request = Request(request_id=name, selection=selection, pipelines=(pipeline,), **more)
    requests.put(runtime.journal, request)


def is_under_way(tmp_path: Path) -> bool:
    return (tmp_path / "held").exists()


def good_runs(plain: PlainSql, pipeline: str) -> int:
    query = "SELECT COUNT(*) FROM runs WHERE pipeline_id = ? AND status IN ('succeeded', 'skipped')"
    return int(plain.value(query, pipeline))


def test_the_first_signal_lets_a_request_end_and_takes_no_other(
    runtime: Runtime, tmp_path: Path, held: Callable[[], None]
) -> None:
    put(runtime, "slow")
    with running(runtime, slots=2) as worker:
        until(lambda: is_under_way(tmp_path))
        worker.drain.ask()
        until(lambda: workers.alive(runtime.journal) == [])  # it drains
        put(runtime, "other")
        worker.until_turned()
        held()
        worker.until_done("slow")
    assert worker.status("other") == "waiting"


def test_the_second_signal_stops_what_runs_and_requeues_it(
    runtime: Runtime, tmp_path: Path, held: Callable[[], None], plain: PlainSql
) -> None:
    put(runtime, "slow")
    with running(runtime, slots=2) as worker:
        until(lambda: is_under_way(tmp_path))
        worker.drain.ask()
        worker.drain.ask()
        until(lambda: workers.alive(runtime.journal) == [])
        held()
    [again] = requests.due(runtime.journal)
    assert (again.request_id, again.because) == ("request-slow", "its worker was stopped")
    with running(runtime, slots=1) as another:
        another.until_done("slow")
    assert good_runs(plain, "slow") == 1


def test_critical_work_stops_a_running_stage_after_its_grace_time_and_goes_first(
    runtime: Runtime, tmp_path: Path, held: Callable[[], None], plain: PlainSql
) -> None:
    plain.run("INSERT INTO pipeline_profiles (pipeline_id, profile_id) VALUES ('alert', 'focus')")
    plain.run(
        "UPDATE profile_settings SET setting_value = 0"
        " WHERE profile_id = 'focus' AND setting_key = 'preempt_grace_sec'"
    )
    put(runtime, "slow")
    with running(runtime, slots=1) as worker:
        until(lambda: is_under_way(tmp_path))
        put(runtime, "alert")
        worker.until_turned()
        held()
        worker.until_done("alert", "slow")
    [requeued] = runtime.journal.read(kinds=["RequestRequeued"])
    assert (requeued.request_id, good_runs(plain, "slow")) == ("request-slow", 1)
    ended = [event.request_id for event in runtime.journal.read(kinds=["RequestEnded"])]
    assert ended.index("request-alert") < len(ended) - ended[::-1].index("request-slow")


def test_a_newer_start_of_a_schedule_stops_the_one_that_runs(
    runtime: Runtime, tmp_path: Path, held: Callable[[], None], plain: PlainSql
) -> None:
    put(runtime, "slow")
    with running(runtime, slots=1) as worker:
        until(lambda: is_under_way(tmp_path))
        requests.supersede(runtime.journal, "request-slow")
        plain.run("UPDATE pipelines SET owner = 'ann' WHERE pipeline_id = 'slow'")
        worker.until_turned()
        held()
        until(lambda: worker.status("slow") == RequestStatus.CANCELLED)
    assert good_runs(plain, "slow") == 0


def test_a_flag_stops_one_of_the_requests_that_run_at_once(
    runtime: Runtime, tmp_path: Path, held: Callable[[], None], plain: PlainSql
) -> None:
    for name in ("slow", "other"):
        put(runtime, name)
    with running(runtime, slots=2) as worker:
        until(lambda: {worker.status("slow"), worker.status("other")} == {"running"})
        until(lambda: is_under_way(tmp_path))
        plain.run(
            "INSERT INTO control_flags (entity_type, entity_id, flag_name, flag_value)"
            " VALUES ('pipeline', 'slow', 'enabled', false)"
        )
        worker.until_turned()
        held()
        worker.until_done("other")
        until(lambda: worker.status("slow") == RequestStatus.STOPPED)


def test_a_window_that_cannot_be_read_holds_its_pipeline_alone(
    runtime: Runtime, plain: PlainSql
) -> None:
    plain.run("UPDATE pipelines SET run_window = 'at night' WHERE pipeline_id = 'slow'")
    put(runtime, "slow")
    put(runtime, "other")
    with running(runtime, slots=1) as worker:
        worker.until_done("other")
        found = until(lambda: plain.run("SELECT gate, because FROM waits"))
    assert found[0][0] == "window"
    assert "'at night' cannot be used" in found[0][1]


def test_of_several_services_one_fires_each_missed_start(
    runtime: Runtime, plain: PlainSql, catalog_url: str, tmp_path: Path
) -> None:
    plain.run(
        "UPDATE pipelines SET schedule = '@daily', missed_runs = 'all' WHERE pipeline_id = 'slow'"
    )
    Clock(runtime, "service").turn()
    past = datetime.now(UTC) - timedelta(days=6)
    plain.run(f"UPDATE schedule_fires SET due_at = '{past:%Y-%m-%d %H:%M:%S}'")
    environ = {"GOLDSMITH_CATALOG__URL": catalog_url}
    others = [
        Runtime.of(environ, project=tmp_path, environment=None, cwd=tmp_path) for _ in range(4)
    ]
    start = threading.Barrier(len(others))

    def turn(other: Runtime) -> int:
        start.wait()
        return len(Clock(other, "another").turn())

    with ThreadPoolExecutor(len(others)) as several:
        fired = list(several.map(turn, others))
    for other in others:
        other.close()
    assert sum(fired) == len(requests.due(runtime.journal)) == 6
    assert len({request.due_at for request in requests.due(runtime.journal)}) == 6


def test_a_worker_of_another_version_of_the_catalog_ends_with_a_sentence(
    runtime: Runtime, plain: PlainSql
) -> None:
    plain.run("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(CatalogTooNew, match="9999"):
        RunningPool(runtime).work(slots=1)


def test_a_turn_of_the_service_opens_an_incident_for_a_missed_sla_and_queues_its_message(
    runtime: Runtime, plain: PlainSql
) -> None:
    plain.run(
        "UPDATE pipelines SET sla_minutes = 5, impact = 'customer', created_at = '2020-01-01'"
        " WHERE pipeline_id = 'slow'"
    )
    plain.run(
        "INSERT INTO notification_routes (route_id, kind, url)"
        " VALUES ('on call', 'slack', 'http://127.0.0.1:1/')"
    )
    state = ServiceState()
    _Turns(runtime, state, "service").turn()
    assert state.problem is None
    [incident] = incidents.listed(runtime.journal)
    assert (incident.about, incident.error_code) == ("dataset:slow", "DatasetStale")
    [(route, about)] = plain.run("SELECT route_id, incident_id FROM outbox")
    assert (route, about) == ("on call", incident.incident_id)
