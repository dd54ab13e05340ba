"""A bench for stages: rows applied, files brought, selections run, tables looked at."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from goldsmith.catalog import bundle
from goldsmith.catalog.catalog import Catalog
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.lake import parquet_files
from goldsmith.engine.read import kept_schemas
from goldsmith.engine.run import ExecutionOptions
from goldsmith.engine.warehouses.open import open_warehouse
from goldsmith.healing.classify import classify
from goldsmith.journal import requests, runs
from goldsmith.journal.owners import Owner
from goldsmith.journal.tables import StageRun
from goldsmith.planning import apply_files
from goldsmith.planning.increments import Increments
from goldsmith.planning.run_options import RunOptions
from goldsmith.runtime import Runtime
from goldsmith.worker import loop
from goldsmith.worker.kill_switch import KillSwitch
from plain_sql import PlainSql
from servers import s3 as s3_server
from servers.postgres import Postgres

if TYPE_CHECKING:
    from spark.engine.stopping import Stopping

_NUMBERS = itertools.count()
Elsewhere = Callable[..., "Bench"]
#: Makes a Python function known to every session, and says by which name.
Function = Callable[[Any], str]
_LEFT_OPEN = (
    "SELECT resource FROM leases WHERE owner IS NOT NULL",
    "SELECT stage_run_id FROM stage_runs WHERE ended_at IS NULL",
    "SELECT run_id FROM runs WHERE ended_at IS NULL",
    "SELECT path FROM input_files WHERE NOT counted",
)


@dataclass
class Bench:
    """One test's own datasets on the shared session."""

    runtime: Runtime
    spark: SparkSession
    #: Random: this module is imported under two names, and a counter would count twice.
    tag: str = field(default_factory=lambda: f"t{uuid4().hex[:8]}")

    def apply(self, text: str) -> None:
        """Apply YAML in which `@` stands for this test's own prefix."""
        declared = bundle.load([("test.yaml", text.replace("@", self.tag))])
        proposal = apply_files.propose(self.runtime.catalog_indexer, declared)
        apply_files.apply(
            self.runtime.catalog_indexer, declared, proposal, actor="test", reason=None
        )

    def bring(self, name: str, *rows: dict[str, Any] | str) -> Path:
        """Put a raw file of JSON lines there."""
        folder = Path(self.runtime.settings.address(f"s3://raw/{self.tag}/"))
        folder.mkdir(parents=True, exist_ok=True)
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (folder / name).write_text("\n".join(lines) + "\n")
        return folder / name

    def run(self, selection: str = "@", **options: Any) -> dict[int, StageRun]:
        """Run a selection; the stage runs by stage_order."""
        runtime = self.runtime
        request = loop.submit_request(runtime, [selection.replace("@", self.tag)], options, "test")
        orders = ExecutionOptions(
            request_id=None, run_options=RunOptions(), asked_by="test", at_once=1
        )
        turned = loop.tick(runtime, self.resources(), orders, awaited=request.request_id)
        # A request joins one that waits and asks for the same.
        followed = requests.followed(runtime.journal, request.request_id)
        done = next(t for t in turned if t.request.request_id == followed)
        return {
            stage_run.stage_order or 0: stage_run
            for run in done.runs
            for stage_run in runs.stage_runs_of(runtime.journal, run.run_id)
        }

    def turn(self, resources: WorkerResources) -> list[loop.RequestOutcome]:
        """Carry out everything that is due."""
        orders = ExecutionOptions(
            request_id=None, run_options=RunOptions(), asked_by="test", at_once=1
        )
        return loop.tick(self.runtime, resources, orders)

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """What somebody types into sqlite3 or psql; `@` stands for this test's own prefix."""
        with closing(PlainSql(self.runtime.settings.catalog.url)) as plain:
            return plain.run(statement.replace("@", self.tag), *values)

    def resources(
        self,
        watched: Callable[[Attempt], AbstractContextManager[None]] = lambda attempt: nullcontext(),
    ) -> WorkerResources:
        runtime = self.runtime
        return WorkerResources(
            spark=lambda: self.spark,
            storage=runtime.storage,
            journal=runtime.journal,
            increments=Increments(runtime.catalog, runtime.storage),
            warehouse=lambda type_: open_warehouse(runtime.storage, type_),
            owner=Owner.this_process(),
            kept_schema=lambda dataset: kept_schemas.get(runtime.journal, dataset),
            renew=lambda: None,
            code_of=lambda error: classify(error).code.name,
            watched=watched,
        )

    def rows(self, layer: str, *columns: str) -> list[tuple[Any, ...]]:
        """Published rows of the test's table of a layer, sorted; none where there is no table."""
        name = f"lake.{layer}.{layer}_{self.tag}"
        if not self.spark.catalog.tableExists(name):
            return []
        table = self.spark.table(name)
        return sorted(tuple(row) for row in table.select(*columns).collect())

    def events(self, stage_run_id: str) -> list[tuple[Any, ...]]:
        """What the audit log says of a stage run: kind and error code."""
        query = "SELECT kind, error_code FROM audit_log WHERE stage_run_id = ? ORDER BY event_id"
        with self.runtime.journal.reading() as connection:
            found = connection.exec_driver_sql(query, (stage_run_id,)).fetchall()
        return [tuple(row) for row in found]

    def leftovers(self) -> list[str]:
        """What a run of this test left behind: branches, staged rows, leases, open ends."""
        lake, left = self.runtime.storage.lake(), list[str]()
        for space in lake.list_namespaces() if lake is not None else ():
            for table in lake.list_tables(space):
                if self.tag in table[-1].split("_"):
                    refs = lake.load_table(table).metadata.refs
                    left += [f"{table[-1]}@{ref}" for ref in refs if ref != "main"]
        staging = Path(self.runtime.settings.staging.folder)
        left += [file.name for file in staging.iterdir()] if staging.exists() else []
        with self.runtime.journal.reading() as connection:
            for query in _LEFT_OPEN:
                left += [str(row[0]) for row in connection.exec_driver_sql(query)]
        return left

    def columns(self, layer: str) -> list[str]:
        return self.spark.table(f"lake.{layer}.{layer}_{self.tag}").columns


@pytest.fixture(scope="session")
def with_catalog(project: Runtime) -> Runtime:
    file = project.settings.catalog.file
    assert file is not None
    file.parent.mkdir(parents=True, exist_ok=True)
    Catalog.open(project.settings.catalog.url, create=True).close()
    return project


@pytest.fixture
def bench(with_catalog: Runtime, spark: SparkSession) -> Bench:
    return Bench(runtime=with_catalog, spark=spark)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows are taken for many: what is asked of them is asked of the files they lie in."""
    for name in ("LARGE", "WORTH_IT", "_FEW"):
        monkeypatch.setattr(parquet_files, name, 0)


@pytest.fixture
def elsewhere(with_catalog: Runtime, spark: SparkSession, tmp_path: Path) -> Iterator[Elsewhere]:
    """A bench of the same catalog and lake, whose settings say something else besides."""
    opened: list[Runtime] = []
    home = Path(with_catalog.settings.project) / ".goldsmith"
    same = (
        f'[catalog]\nurl = "{with_catalog.settings.catalog.url}"\n'
        f'[lake]\nuri = "{with_catalog.settings.lake.uri}"\nwarehouse = "{home}/lake"\n'
        f'io = "hadoop"\n[staging]\nfolder = "{home}/staging"\n'
    )

    def make(toml: str, *, like: Bench | None = None) -> Bench:
        folder = tmp_path / f"project-{next(_NUMBERS)}"
        folder.mkdir()
        (folder / "goldsmith.toml").write_text(same + toml.replace("HOME", str(home)))
        environ = {"S3_KEY": s3_server.ACCESS_KEY, "S3_SECRET": s3_server.SECRET_KEY}
        opened.append(Runtime.of(environ, project=folder, environment=None, cwd=folder))
        tag = f"e{next(_NUMBERS)}" if like is None else like.tag
        return Bench(runtime=opened[-1], spark=spark, tag=tag)

    yield make
    for runtime in opened:
        runtime.close()


@pytest.fixture
def function(spark: SparkSession) -> Iterator[Function]:
    """Make a Python function known by a name to every session that begins after this."""
    jvm: Any = spark.sparkContext._jvm
    registry = jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin()
    names: list[Any] = []

    def make(udf: Any) -> str:
        name = f"of_python_{len(names)}"
        spark.udf.register(name, udf)
        identifier = jvm.org.apache.spark.sql.catalyst.FunctionIdentifier(name)
        known = spark._jsparkSession.sessionState().functionRegistry()
        registry.registerFunction(
            identifier,
            known.lookupFunction(identifier).get(),
            known.lookupFunctionBuilder(identifier).get(),
        )
        names.append(identifier)
        return name

    yield make
    for identifier in names:
        registry.dropFunction(identifier)


@pytest.fixture
def database(postgres_server: Postgres) -> Iterator[str]:
    name = f"connections_{os.getpid()}_{next(_NUMBERS)}"
    postgres_server.create(name)
    yield postgres_server.url(name)
    postgres_server.drop(name)


@pytest.fixture
def stopping(
    bench: Bench,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Stopping]:
    """A pipeline to be stopped; its catalog is SQLite where the test does not say otherwise."""
    from spark.engine.stopping import Stopping

    if getattr(request, "param", "sqlite") == "postgresql":
        url = request.getfixturevalue("new_database")(request.getfixturevalue("migrated_postgres"))
        settings = bench.runtime.settings
        catalog = replace(settings.catalog, url=url)
        bench.runtime = replace(bench.runtime, settings=replace(settings, catalog=catalog))
    switch = KillSwitch(bench.runtime)
    yield Stopping(bench, bench.resources(switch.watching), tmp_path / "hold", monkeypatch)
    switch.close()
    bench.sql("UPDATE control_flags SET flag_value = true")
    if bench.runtime.settings.catalog.file is None:
        bench.runtime.close()
