"""A dataset moved without Spark: its table and quarantine renamed, the journal after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from goldsmith.catalog.catalog import Catalog
from goldsmith.engine import faults
from goldsmith.engine.attempt import WorkerResources
from goldsmith.engine.maintenance.move_dataset import CannotMove, MoveClashes, move, plan_move
from goldsmith.engine.warehouses.open import open_warehouse
from goldsmith.journal.owners import Owner
from goldsmith.planning.increments import Increments
from goldsmith.planning.ledger_problems import TargetRenamed
from goldsmith.planning.ledgers import Ledgers
from goldsmith.runtime import Runtime
from goldsmith.storage.lake_tables import TableBroken, metadata_at, metadata_files
from plain_sql import PlainSql

ROWS = """
INSERT INTO pipelines (pipeline_id) VALUES ('p');
INSERT INTO sources (source_id, s3_path) VALUES ('raw', 's3://b/raw/');
INSERT INTO targets (target_id, location) VALUES ('sales.new', 's3://b/sales/');
INSERT INTO stages (pipeline_id, stage_order, source_id, target_id, layer, write_mode)
  VALUES ('p', 1, 'raw', 'sales.new', 'silver', 'append');
INSERT INTO stage_ledgers (ledger_id, pipeline_id, stage_order, source_id, target_id, table_name,
  location, published_by) VALUES ('p-1', 'p', 1, 'raw', 'sales.old', 'lake.bronze.sales__old',
  's3://b/sales', 's1');
INSERT INTO input_snapshots (consumer, dataset_id, stage_run_id, snapshot, counted)
  VALUES ('q-1', 'sales.old', 's2', '1', true);
INSERT INTO stage_runs (stage_run_id, target_id, status, attempt, ended_at)
  VALUES ('s1', 'sales.old', 'succeeded', 1, '2026-01-01 00:00:00')
"""


class Project:
    """A project whose target was renamed and put into another layer."""

    def __init__(self, folder: Path) -> None:
        (folder / "goldsmith.toml").write_text('name = "tests"\n')
        self.runtime = Runtime.of({}, project=folder, environment=None, cwd=folder)
        url = self.runtime.settings.catalog.url
        (folder / ".goldsmith").mkdir()
        Catalog.open(url, create=True).close()
        self.plain = PlainSql(url)
        for statement in ROWS.split(";\n"):
            self.plain.run(statement)
        lake = str(self.runtime.settings.lake.uri)
        made = load_catalog("lake", type="sql", uri=lake, warehouse=str(folder / "lake"))
        schema = pa.schema([("id", pa.int64())])
        for name in ("bronze.sales__old", "quarantine.sales__old"):
            made.create_namespace(name.partition(".")[0])
            made.create_table(name, schema)
        made.close()

    def resources(self) -> WorkerResources:
        runtime = self.runtime

        def no_spark() -> Any:
            raise AssertionError("Spark was started")

        return WorkerResources(
            spark=no_spark,
            storage=runtime.storage,
            journal=runtime.journal,
            increments=Increments(runtime.catalog, runtime.storage),
            warehouse=lambda type_: open_warehouse(runtime.storage, type_),
            owner=Owner.this_process(),
            kept_schema=lambda dataset: None,
            renew=lambda: None,
            code_of=lambda error: type(error).__name__,
        )

    def move(self, old: str = "sales.old", new: str = "sales.new") -> None:
        catalog_index, resources = self.runtime.catalog_indexer.catalog_index(), self.resources()
        move(
            resources,
            plan_move(catalog_index, Ledgers(self.runtime.catalog), resources, old, new),
            "test",
        )

    def names(self) -> set[tuple[str, ...]]:
        return set(metadata_files(self.runtime.storage))

    def problem(self) -> Exception | None:
        context = self.runtime.catalog_indexer.catalog_index().stages["p-1"]
        return Ledgers(self.runtime.catalog).match(context).problem


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path)
    with closing(made.plain):
        yield made
    made.runtime.close()


class Killed(Exception):
    """The process was killed here."""


def kill_at(point: str) -> Callable[[str], None]:
    def reach(name: str) -> None:
        if name == point:
            raise Killed

    return reach


@pytest.mark.parametrize(
    "killed_at", [None, "move-noted", "move-renamed", "move-quarantine-renamed"]
)
def test_a_move_takes_everything_along_wherever_it_was_killed(
    project: Project, killed_at: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(project.problem(), TargetRenamed)
    if killed_at is not None:
        with monkeypatch.context() as patched:
            patched.setattr(faults, "reach", kill_at(killed_at))
            with pytest.raises(Killed):
                project.move()
        assert isinstance(project.problem(), TargetRenamed)
    project.move()
    assert project.problem() is None
    assert project.names() == {("silver", "sales__new"), ("quarantine", "sales__new")}
    assert project.plain.run("SELECT target_id FROM stage_runs") == [("sales.new",)]
    assert project.plain.run("SELECT dataset_id FROM input_snapshots") == [("sales.new",)]
    ledger = project.plain.run("SELECT target_id, table_name, location FROM stage_ledgers")
    assert ledger == [("sales.new", "lake.silver.sales__new", "s3://b/sales")]
    assert project.plain.run("SELECT owner FROM leases WHERE owner IS NOT NULL") == []
    with pytest.raises(CannotMove, match="nothing was loaded"):
        project.move()


def test_a_name_that_is_taken_is_refused_and_nothing_changes(project: Project) -> None:
    lake = project.runtime.storage.lake()
    assert lake is not None
    lake.create_namespace("silver")
    lake.create_table("silver.sales__new", pa.schema([("id", pa.int64())]))
    before = project.names()
    with pytest.raises(MoveClashes, match="is there already"):
        project.move()
    assert project.names() == before


def test_a_dataset_that_a_stage_still_writes_is_not_moved(project: Project) -> None:
    project.plain.run("INSERT INTO targets (target_id, location) VALUES ('sales.old', 's3://b/o')")
    project.plain.run(
        "INSERT INTO stages (pipeline_id, stage_order, source_id, target_id, layer)"
        " VALUES ('p', 2, 'raw', 'sales.old', 'bronze')"
    )
    with pytest.raises(CannotMove):
        project.move()


@pytest.mark.parametrize("text", [None, b'{"format-ver', b"\xff\x00", b"{}", b"[]", b""])
def test_metadata_that_is_gone_cut_or_garbage_is_told_by_a_code(
    project: Project, text: bytes | None
) -> None:
    storage, name = project.runtime.storage, ("bronze", "sales__old")
    file = Path(metadata_files(storage)[name])
    file.unlink()
    if text is not None:
        file.write_bytes(text)
    with pytest.raises(TableBroken, match=r"lake\.bronze\.sales__old cannot be read") as raised:
        metadata_at(storage, name)
    assert raised.value.hint
