"""Re-routing a plan: which dataset a stage reads while its default source is down."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from goldsmith.cli.main import goldsmith
from goldsmith.engine.attempt import WorkerResources
from goldsmith.journal import health
from goldsmith.planning import planner
from goldsmith.planning.plan import Plan
from goldsmith.planning.routes import route_of
from goldsmith.runtime import Runtime
from goldsmith.service.observation_rounds import probe_again
from goldsmith.worker.reroute import NoHealthyPath, reroute
from goldsmith.worker.resources import worker_resources

EXAMPLE = Path(__file__).parents[3] / "examples/recovery/catalog.yaml"


class Project:
    """The example in a folder, with an open runtime; Spark is never started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._run("init", str(folder))

    def apply(self, file: Path) -> None:
        self._run("--project", str(self.folder), "apply", str(file), "--yes")

    def _run(self, *arguments: str) -> None:
        result = CliRunner().invoke(goldsmith, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output

    def bucket(self, name: str) -> Path:
        return self.folder / ".goldsmith/s3" / name

    def plan(self, runtime: Runtime, resources: WorkerResources) -> Plan:
        index = runtime.catalog_indexer.catalog_index()
        made = planner.plan(index, ["orders"], now=datetime.now(UTC), environment="test")
        return reroute(made, index, resources)[0]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project")
    made.apply(EXAMPLE)
    for name in ("orders", "orders-copy"):
        (made.bucket(name) / "raw/orders").mkdir(parents=True)
    return made


@pytest.fixture
def runtime(project: Project) -> Iterator[Runtime]:
    opened = Runtime.of({}, project=project.folder, environment=None, cwd=project.folder)
    yield opened
    opened.close()


@pytest.fixture
def resources(runtime: Runtime) -> Iterator[WorkerResources]:
    with worker_resources(runtime) as opened:
        yield opened


def test_a_healthy_default_stays(
    project: Project, runtime: Runtime, resources: WorkerResources
) -> None:
    first = project.plan(runtime, resources).stages[0]
    assert first.context.stage.source_id == "raw_orders"
    assert route_of(first.context) is None


def test_the_other_source_is_read_while_the_bucket_of_the_default_is_gone(
    project: Project, runtime: Runtime, resources: WorkerResources
) -> None:
    shutil.rmtree(project.bucket("orders"))
    first = project.plan(runtime, resources).stages[0]
    assert first.context.stage.source_id == "raw_orders_alt"
    assert route_of(first.context) == "raw_orders_alt,bronze_orders"
    assert "raw_orders is down" in first.because
    found = health.health_of(runtime.journal, "raw_orders")
    assert found is not None
    assert found.status == "down"


def test_the_default_does_not_come_back_with_its_first_good_probe(
    project: Project, runtime: Runtime, resources: WorkerResources
) -> None:
    bucket = project.bucket("orders")
    bucket.rename(bucket.with_name("gone"))
    project.plan(runtime, resources)
    bucket.with_name("gone").rename(bucket)
    first = project.plan(runtime, resources).stages[0]
    assert first.context.stage.source_id == "raw_orders_alt"


def test_with_no_healthy_path_the_reason_names_every_way(
    project: Project, runtime: Runtime, resources: WorkerResources
) -> None:
    shutil.rmtree(project.bucket("orders"))
    shutil.rmtree(project.bucket("orders-copy"))
    with pytest.raises(NoHealthyPath, match="raw_orders_alt is down"):
        project.plan(runtime, resources)


def test_a_stage_that_would_hold_rows_twice_is_not_re_routed(
    project: Project, runtime: Runtime, resources: WorkerResources, tmp_path: Path
) -> None:
    rows = yaml.safe_load(EXAMPLE.read_text("utf-8"))
    rows["stages"][0] |= {"write_mode": "append", "keys": []}
    changed = tmp_path / "append.yaml"
    changed.write_text(yaml.safe_dump({"stages": rows["stages"]}), encoding="utf-8")
    project.apply(changed)
    shutil.rmtree(project.bucket("orders"))
    with pytest.raises(NoHealthyPath, match="writes by append"):
        project.plan(runtime, resources)


def test_what_a_drill_cuts_off_is_not_read_in_its_environment_only(
    project: Project, runtime: Runtime, resources: WorkerResources
) -> None:
    journal, minute = runtime.journal, timedelta(minutes=1)
    health.cut(journal, "raw_orders", "production", "drill-1", "ann", minute)
    assert project.plan(runtime, resources).stages[0].context.stage.source_id == "raw_orders"
    health.cut(journal, "raw_orders", "embedded", "drill-1", "ann", minute)
    first = project.plan(runtime, resources).stages[0]
    assert first.context.stage.source_id == "raw_orders_alt"
    found = health.health_of(journal, "raw_orders")
    assert found is not None
    assert "cut off by drill-1" in str(found.because)
    kinds = ["SourceCutOff", "DatasetHealthChanged"]
    assert [event.kind for event in journal.read(kinds=kinds)] == [
        "SourceCutOff",
        "SourceCutOff",
        "DatasetHealthChanged",
    ]


def test_a_cut_ends_by_itself(
    project: Project, runtime: Runtime, resources: WorkerResources
) -> None:
    health.cut(runtime.journal, "raw_orders", "embedded", "drill-1", "ann", timedelta())
    assert project.plan(runtime, resources).stages[0].context.stage.source_id == "raw_orders"


def test_a_service_brings_a_dataset_back_after_it_was_well_for_a_while(
    project: Project, runtime: Runtime, resources: WorkerResources
) -> None:
    bucket = project.bucket("orders")
    bucket.rename(bucket.with_name("gone"))
    project.plan(runtime, resources)
    probe_again(runtime)
    bucket.with_name("gone").rename(bucket)
    probe_again(runtime)
    found = health.health_of(runtime.journal, "raw_orders")
    assert found is not None
    assert (found.status, found.well_since is not None) == ("down", True)
    earlier = found.with_(well_since=found.well_since - timedelta(minutes=2))
    health.store(runtime.journal, earlier, found)
    probe_again(runtime)
    found = health.health_of(runtime.journal, "raw_orders")
    assert found is not None
    assert found.status == "healthy"


def test_a_stage_that_failed_on_its_source_is_re_routed_although_probes_succeed(
    project: Project, runtime: Runtime, resources: WorkerResources
) -> None:
    with runtime.journal.writing() as connection:
        health.mark_down(runtime.journal, "raw_orders", "SourceUnreachable", connection=connection)
    first = project.plan(runtime, resources).stages[0]
    assert first.context.stage.source_id == "raw_orders_alt"
