"""Requests for the same: one that waits is joined, so that it is carried out once."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.journal import requests
from goldsmith.journal.owners import Owner, this_host
from goldsmith.journal.tables import Request
from goldsmith.runtime import Runtime
from goldsmith.worker import loop, requeue

SOON = datetime(2999, 1, 1, tzinfo=UTC)
ROWS = (
    Pipeline(pipeline_id="p"),
    Source(source_id="raw", s3_path="s3://x/raw/", file_format="csv"),
    Target(target_id="a", location="s3://x/a/", type="s3"),
    Stage(pipeline_id="p", stage_order=1, source_id="raw", target_id="a"),
)


@pytest.fixture
def runtime(catalog: Catalog, catalog_url: str, tmp_path: Path) -> Runtime:
    """A project whose catalog is this one."""
    (tmp_path / "goldsmith.toml").write_text('name = "joining"\n')
    environ = {"GOLDSMITH_CATALOG__URL": catalog_url}
    opened = Runtime.of(environ, project=tmp_path, environment=None, cwd=tmp_path)
    opened.__dict__["catalog"] = catalog
    with catalog.change(actor="test") as change:
        change.put(ROWS)
    return opened


@pytest.fixture(scope="module")
def dead() -> str:
    """A worker of this machine that is no more."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return str(Owner(host=this_host(), pid=process.pid, start="1"))


def statuses(runtime: Runtime) -> list[str]:
    with runtime.journal.reading() as connection:
        from sqlalchemy import text

        query = "SELECT status FROM requests ORDER BY asked_at, request_id"
        return [row[0] for row in connection.execute(text(query))]


def test_after_twelve_kills_one_request_is_carried_out_not_ten(runtime: Runtime, dead: str) -> None:
    for _kill in range(12):
        request = loop.submit_request(runtime, ["p"], {}, "ann")
        requeue.requeue_dead_workers_requests(runtime)
        requeue.merge_duplicate_requests(runtime)
        mine = requests.followed(runtime.journal, request.request_id)
        [due] = requests.due(runtime.journal)
        assert due.request_id == mine
        assert requests.take(runtime.journal, mine, dead) is not None
    # Nobody bears more deaths than `healing_limits` say: then a new request stands for itself.
    assert statuses(runtime).count("running") == 1
    assert set(statuses(runtime)) == {"running", "cancelled", "failed"}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"selection": ("q",)}, id="another selection"),
        pytest.param({"options": {"full_refresh": True}}, id="other options"),
        pytest.param({"options": {"from": "2026-01-01", "to": "2026-01-02"}}, id="a window"),
        pytest.param({"not_before": SOON}, id="another due time"),
        pytest.param({"options": {"healing": {"stages": ["p-1"]}}}, id="a retry of some stages"),
    ],
)
def test_a_request_for_something_else_joins_nothing(
    runtime: Runtime, other: dict[str, object]
) -> None:
    requests.put(runtime.journal, Request(request_id="a", selection=("p",)))
    columns = {"selection": ("p",), **other}
    requests.put(runtime.journal, Request(request_id="b", **columns))  # type: ignore[arg-type]
    assert requeue.merge_duplicate_requests(runtime) == []


def test_one_that_runs_is_not_joined_because_it_was_planned_before(
    runtime: Runtime, dead: str
) -> None:
    requests.put(runtime.journal, Request(request_id="a", selection=("p",)))
    requests.take(runtime.journal, "a", dead)
    requests.put(runtime.journal, Request(request_id="b", selection=("p",)))
    assert requeue.merge_duplicate_requests(runtime) == []


def test_who_joined_follows_the_other_to_its_end_and_the_audit_log_tells_it(
    runtime: Runtime,
) -> None:
    for name in ("a", "b", "c"):
        requests.put(runtime.journal, Request(request_id=name, selection=("p",)))
    assert [request.request_id for request in requeue.merge_duplicate_requests(runtime)] == [
        "b",
        "c",
    ]
    assert requests.followed(runtime.journal, "c") == "a"
    [ended] = runtime.journal.read(request_id="c", kinds=("RequestEnded",))
    assert "it joins a, which waits and asks for the same" in str(ended.facts["because"])
    assert [request.request_id for request in requests.due(runtime.journal)] == ["a"]
