"""A bench for stages: rows applied, files brought, selections run, tables looked at."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from goldsmith.catalog import bundle
from goldsmith.catalog.catalog import Catalog
from goldsmith.engine import kept_schemas
from goldsmith.engine.run import Orders
from goldsmith.engine.warehouses.open import open_warehouse
from goldsmith.engine.work import Asked, Tools
from goldsmith.healing.classify import classify
from goldsmith.journal import runs
from goldsmith.journal.owners import Owner
from goldsmith.journal.tables import StageRun
from goldsmith.planning import applying
from goldsmith.planning.increments import Increments
from goldsmith.runtime import Runtime
from goldsmith.scheduling import loop

_NUMBERS = itertools.count()


@dataclass
class Bench:
    """One test's own datasets on the shared session."""

    runtime: Runtime
    spark: SparkSession
    tag: str = field(default_factory=lambda: f"t{next(_NUMBERS)}")

    def apply(self, text: str) -> None:
        """Apply YAML in which `@` stands for this test's own prefix."""
        said = bundle.load([("test.yaml", text.replace("@", self.tag))])
        proposal = applying.propose(self.runtime.surveyor, said)
        applying.apply(self.runtime.surveyor, said, proposal, actor="test", reason=None)

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
        asked = loop.ask(runtime, [selection.replace("@", self.tag)], options, "test")
        orders = Orders(request_id=None, asked=Asked(), asked_by="test", at_once=1)
        turned = loop.tick(runtime, self.tools(), orders, mine=asked.request_id)
        done = next(t for t in turned if t.request.request_id == asked.request_id)
        return {
            stage_run.stage_order or 0: stage_run
            for run in done.runs
            for stage_run in runs.stage_runs_of(runtime.journal, run.run_id)
        }

    def tools(self) -> Tools:
        runtime = self.runtime
        return Tools(
            spark=lambda: self.spark,
            places=runtime.places,
            journal=runtime.journal,
            increments=Increments(runtime.catalog, runtime.places),
            warehouse=lambda type_: open_warehouse(runtime.places, type_),
            owner=Owner.this_process(),
            kept_schema=lambda dataset: kept_schemas.get(runtime.journal, dataset),
            keep_schema=lambda dataset, text: kept_schemas.put(runtime.journal, dataset, text),
            renew=lambda: None,
            code_of=lambda error: classify(error).code.name,
        )

    def rows(self, layer: str, *columns: str) -> list[tuple[Any, ...]]:
        """Published rows of the test's table of a layer, sorted."""
        table = self.spark.table(f"lake.{layer}.{layer}_{self.tag}")
        return sorted(tuple(row) for row in table.select(*columns).collect())

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
