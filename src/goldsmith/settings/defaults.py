"""Default values of settings: those of a laptop, or values derived from other settings.

Without settings everything is embedded: it is under `.goldsmith/` of the project. An environment
therefore sets only where it differs, and no default depends on the environment's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goldsmith.settings.raw_settings import RawSettings, looked_in
from goldsmith.settings.sections import (
    WAREHOUSES,
    LakeCatalog,
    LakeIO,
    StorageKind,
    specs,
)
from goldsmith.settings.warehouse_kinds import EMBEDDED_KIND, KINDS

_URL_PARTS = ("host", "port", "database", "user")


def catalog_url(project: Path) -> str:
    """The default catalog of a project."""
    return f"sqlite:///{project / '.goldsmith' / 'catalog.db'}"


class Filled:
    """Every setting's value and origin: given values first, then defaults."""

    def __init__(self, raw: RawSettings) -> None:
        self.raw = raw
        self._values = {name: (spec.default, "default") for name, spec in specs().items()}
        self._values |= {
            name: (setting.value, setting.origin) for name, setting in raw.values.items()
        }

    def __getitem__(self, name: str) -> Any:
        return self._values[name][0]

    def origin(self, name: str) -> str:
        return self._values[name][1]

    def set_default(self, name: str, value: Any, origin: str = "default") -> None:
        if name not in self.raw.values and value is not None:
            self._values[name] = (value, origin)


def fill(raw: RawSettings, project: Path, environ: Mapping[str, str]) -> Filled:
    """Add the defaults to the given settings."""
    parts = {type_: _url_parts(raw, f"warehouses.{type_}") for type_ in WAREHOUSES}
    values = Filled(raw)
    home = project / ".goldsmith"
    values.set_default("name", project.name or "goldsmith")
    values.set_default("catalog.url", catalog_url(project))
    values.set_default("staging.folder", str(home / "staging"))
    values.set_default("schemas.folder", project / "schemas")
    _fill_storage(values, home, environ)
    for type_ in WAREHOUSES:
        _fill_warehouse(values, type_, parts[type_], home)
    _fill_lake(values, home)
    return values


def _url_parts(raw: RawSettings, section: str) -> dict[str, Any]:
    """The parts of a warehouse's URL; it overrides host, port … of lower precedence."""
    url = raw.values.get(f"{section}.url")
    if url is None:
        return {}
    from urllib.parse import unquote, urlsplit

    try:
        split = urlsplit(url.value)
        host, port = split.hostname, split.port
    except ValueError:
        host, port = None, None
    if not host:
        form = "postgresql://USER@HOST:PORT/DATABASE"
        raw.refuse(f"{section}.url", f"{url.origin}: '{section}.url' must look like {form}.")
        return {}
    for part in _URL_PARTS:
        own = raw.values.get(f"{section}.{part}")
        if own is not None and url.rank < own.rank:
            del raw.values[f"{section}.{part}"]
    database, user = unquote(split.path.strip("/")), unquote(split.username or "")
    return {"host": host, "port": port, "database": database or None, "user": user or None}


def _fill_storage(values: Filled, home: Path, environ: Mapping[str, str]) -> None:
    endpoint = values["storage.endpoint"]
    on_s3 = any(values[f"storage.{name}"] for name in ("endpoint", "region", "access_key"))
    values.set_default("storage.kind", StorageKind.S3 if on_s3 else StorageKind.FOLDER)
    values.set_default("storage.folder", home / "s3")
    values.set_default("storage.path_style", endpoint is not None)
    values.set_default("storage.region", "us-east-1" if endpoint else None)
    for variable in ("AWS_DEFAULT_REGION", "AWS_REGION"):
        values.set_default("storage.region", environ.get(variable) or None, f"${variable}")


def _fill_warehouse(values: Filled, type_: str, parts: Mapping[str, Any], home: Path) -> None:
    section = f"warehouses.{type_}"
    elsewhere = values[f"{section}.url"] or values[f"{section}.host"]
    values.set_default(f"{section}.kind", type_ if elsewhere else EMBEDDED_KIND)
    values.set_default(f"{section}.path", home / "warehouse.duckdb")
    values.set_default(f"{section}.port", KINDS.get(values[f"{section}.kind"]).default_port)
    for part, value in parts.items():
        values.set_default(f"{section}.{part}", value, f"{section}.url")
    values.set_default(f"{section}.staging", values["staging.folder"], "staging.folder")


def _fill_lake(values: Filled, home: Path) -> None:
    if values["lake.catalog"] is LakeCatalog.JDBC and values["lake.uri"] is None:
        if values["catalog.url"].startswith("postgresql"):
            values.set_default("lake.uri", values["catalog.url"], "catalog.url")
            values.set_default("lake.password", values["catalog.password"], "catalog.password")
        else:
            values.set_default("lake.uri", f"sqlite:///{home / 'lake.db'}")
    on_s3 = values["storage.kind"] is StorageKind.S3
    values.set_default("lake.io", LakeIO.S3 if on_s3 else LakeIO.HADOOP)
    values.set_default("lake.warehouse", None if on_s3 else str(home / "lake"))


def missing(values: Filled, environment: str) -> list[str]:
    """A sentence for every missing value that other settings require."""
    needed: dict[str, str] = {}
    for type_ in WAREHOUSES:
        section = f"warehouses.{type_}"
        kind = values[f"{section}.kind"]
        needs = KINDS.get(kind)
        for part in needs.required:
            if f"{section}.url" not in values.raw.refused:
                needed[f"{section}.{part}"] = f"a {kind} warehouse needs it"
        if needs.stages_on_s3 and not values[f"{section}.staging"].startswith("s3:"):
            needed[f"{section}.staging"] = "COPY reads from an s3:// prefix"
    if values["storage.kind"] is StorageKind.S3 and values["lake.catalog"] is not LakeCatalog.REST:
        needed["lake.warehouse"] = "tables on S3 need an s3:// prefix"
    for key, other in (("access_key", "secret_key"), ("secret_key", "access_key")):
        if values[f"storage.{key}"] is not None:
            needed[f"storage.{other}"] = f"'storage.{key}' is of no use without it"
    if values["lake.catalog"] is LakeCatalog.REST:
        needed["lake.uri"] = "a rest catalog has an address"
    return [
        f"{looked_in(name, environment)} ({why})."
        for name, why in needed.items()
        if (values[name] is None or name.endswith(".staging")) and name not in values.raw.refused
    ]
