"""The demo's project: a folder with raw files, and its catalog applied."""

from __future__ import annotations

from datetime import date
from importlib.resources import files
from pathlib import Path

from goldsmith.catalog import bundle, catalog
from goldsmith.demo import data
from goldsmith.planning import applying
from goldsmith.runtime import Runtime
from goldsmith.settings import Settings
from goldsmith.settings.defaults import catalog_url
from goldsmith.settings.project import FILE_NAME

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
    file.write_text(Settings.default_toml(folder.absolute().name), encoding="utf-8")
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
