"""The demo's project: a folder with raw files, and its catalog applied."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from importlib.resources import files
from pathlib import Path

from goldsmith.catalog import bundle, catalog
from goldsmith.demo import data
from goldsmith.engine.run import Orders
from goldsmith.engine.work import Asked
from goldsmith.journal.tables import StageRun
from goldsmith.planning import applying
from goldsmith.planning.plan import PlannedStage
from goldsmith.runtime import Runtime
from goldsmith.scheduling import loop
from goldsmith.scheduling.loop import Turned
from goldsmith.scheduling.workshop import workshop
from goldsmith.settings.defaults import catalog_url
from goldsmith.settings.project import FILE_NAME
from goldsmith.settings.settings import Settings

#: A JVM for a minute's work: quick to start rather than quick in the long run.
_SMALL = """
[spark.conf]
"spark.driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"spark.sql.shuffle.partitions" = "2"
"""
_FILES = ("user_events.yaml", "orders.yaml")


def make(folder: Path, today: date) -> int:
    """Make the project where it is not there yet; how many raw files were written."""
    file = folder / FILE_NAME
    if file.exists():
        return 0
    (folder / "catalog").mkdir(parents=True, exist_ok=True)
    for name in _FILES:
        (folder / "catalog" / name).write_text(_text(name), encoding="utf-8")
    made = data.write(folder / ".goldsmith" / "s3" / "company" / "raw", today)
    catalog.Catalog.open(catalog_url(folder.absolute()), create=True).close()
    (folder / ".gitignore").write_text(".goldsmith/\n", encoding="utf-8")
    # Last: a folder that was left half-made is made anew.
    text = Settings.default_toml(folder.absolute().name) + _SMALL
    file.write_text(text, encoding="utf-8")
    return made


def apply(runtime: Runtime) -> int:
    """Apply the demo's catalog; the revision it is at."""
    said = bundle.load((name, _text(name)) for name in _FILES)
    proposal = applying.propose(runtime.surveyor, said)
    revision, _done = applying.apply(
        runtime.surveyor, said, proposal, actor="demo", reason="goldsmith demo", as_shown=False
    )
    return revision


def _text(name: str) -> str:
    return (files("goldsmith.demo") / "catalog" / name).read_text(encoding="utf-8")


def run(
    runtime: Runtime, tell: Callable[[str, PlannedStage, StageRun | None], None]
) -> list[Turned]:
    """Run everything, as `goldsmith run` would."""
    asked = loop.ask(runtime, (), {}, "demo")
    orders = Orders(request_id=None, asked=Asked(), asked_by="demo", tell=tell)
    with workshop(runtime) as tools:
        return loop.see_through(runtime, tools, orders, asked.request_id)


def gold(runtime: Runtime) -> list[tuple[date, int, int]]:
    """The days of analytics.daily_user_events, straight from the warehouse."""
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
            return []  # the stage that makes it failed
