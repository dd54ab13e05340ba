"""The demo's project: create it with raw files, apply its catalog, run it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from importlib.resources import files
from pathlib import Path

from goldsmith.catalog import bundle, catalog
from goldsmith.demo import data
from goldsmith.engine.run import ExecutionOptions
from goldsmith.journal.tables import StageRun
from goldsmith.planning import apply_files
from goldsmith.planning.plan import PlannedStage
from goldsmith.planning.run_options import RunOptions
from goldsmith.runtime import Runtime
from goldsmith.settings.defaults import catalog_url
from goldsmith.settings.project import FILE_NAME
from goldsmith.settings.settings import Settings
from goldsmith.worker import loop
from goldsmith.worker.loop import RequestOutcome
from goldsmith.worker.resources import worker_resources

#: JVM options for a short run: a quick start instead of peak speed.
_SMALL = """
[spark.conf]
"spark.driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"spark.sql.shuffle.partitions" = "2"
"""
_FILES = ("user_events.yaml", "orders.yaml")


def make(folder: Path, today: date) -> int:
    """Create the project if it is missing; returns the number of raw files written."""
    file = folder / FILE_NAME
    if file.exists():
        return 0
    (folder / "catalog").mkdir(parents=True, exist_ok=True)
    for name in _FILES:
        (folder / "catalog" / name).write_text(_text(name), encoding="utf-8")
    made = data.write(folder / ".goldsmith" / "s3" / "company" / "raw", today)
    catalog.Catalog.open(catalog_url(folder.absolute()), create=True).close()
    (folder / ".gitignore").write_text(".goldsmith/\n", encoding="utf-8")
    # Written last: an incomplete folder is created again.
    text = Settings.default_toml(folder.absolute().name) + _SMALL
    file.write_text(text, encoding="utf-8")
    return made


def apply(runtime: Runtime) -> int:
    """Apply the demo's catalog; returns the revision."""
    declared = bundle.load((name, _text(name)) for name in _FILES)
    proposal = apply_files.propose(runtime.catalog_indexer, declared)
    revision, _done = apply_files.apply(
        runtime.catalog_indexer,
        declared,
        proposal,
        actor="demo",
        reason="goldsmith demo",
        as_shown=False,
    )
    return revision


def _text(name: str) -> str:
    return (files("goldsmith.demo") / "catalog" / name).read_text(encoding="utf-8")


def run(
    runtime: Runtime, tell: Callable[[str, PlannedStage, StageRun | None], None]
) -> list[RequestOutcome]:
    """Run everything, as `goldsmith run` would."""
    request = loop.submit_request(runtime, (), {}, "demo")
    options = ExecutionOptions(
        request_id=None, run_options=RunOptions(), asked_by="demo", tell=tell
    )
    with worker_resources(runtime) as resources:
        return loop.run_until_over(runtime, resources, options, request.request_id)


def gold(runtime: Runtime) -> list[tuple[date, int, int]]:
    """The rows of analytics.daily_user_events, read from the warehouse."""
    import duckdb

    file = runtime.settings.warehouses["redshift"].path
    if not file.exists():
        return []
    with duckdb.connect(str(file), read_only=True) as connection:
        try:
            return connection.execute(
                "SELECT event_date, total_events, unique_users"
                " FROM analytics.daily_user_events ORDER BY event_date"
            ).fetchall()
        except duckdb.CatalogException:
            return []  # the stage that writes it failed
