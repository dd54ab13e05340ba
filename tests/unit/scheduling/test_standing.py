from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.journal import events, requests, runs, stage_runs
from goldsmith.journal.tables import Request, Run, StageRun
from goldsmith.runtime import Runtime
from goldsmith.scheduling import standing

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
    asked = Request(request_id="r", selection=("p",), options=options, asked_by="test")
    requests.put(journal, asked)
    requests.take(journal, "r", "worker")
    run = runs.start_run(journal, Run(run_id="run", request_id="r", pipeline_id="p"))
    tried = StageRun(stage_run_id="try", run_id=run.run_id, pipeline_id="p", stage_order=1)
    stage_runs.pass_over(journal, tried, events.StageStopped(because="a flag"))
    runs.finish_run(journal, run.run_id, events.RunStopped(because="a flag"))
    requests.stopped(journal, "r", because="a flag", run_ids=["run"])


def test_a_request_waits_again_once_what_stopped_it_is_gone(runtime: Runtime) -> None:
    flag(runtime, "p-1", enabled=False)
    stopped_at_the_first_stage(runtime)
    assert standing.put_back_the_released(runtime) == []
    flag(runtime, "p-1", enabled=True)
    assert [request.request_id for request in standing.put_back_the_released(runtime)] == ["r"]


def test_a_request_stays_stopped_while_all_that_is_left_of_it_is_stopped(runtime: Runtime) -> None:
    flag(runtime, "p-2", enabled=False)
    stopped_at_the_first_stage(runtime, left=("p-2",))
    assert standing.put_back_the_released(runtime) == []
    flag(runtime, "p-2", enabled=True)
    assert [request.request_id for request in standing.put_back_the_released(runtime)] == ["r"]
