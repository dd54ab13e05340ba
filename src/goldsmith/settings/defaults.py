"""What holds where nothing was said: a laptop's values, or what follows from what was said.

Nothing said means embedded: everything lies under `.goldsmith/` of the project. An environment
therefore says only where it differs, and no default depends on what an environment is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goldsmith.settings.said import Everything, looked_in
from goldsmith.settings.sections import (
    WAREHOUSES,
    LakeCatalog,
    LakeIO,
    StorageKind,
    WarehouseKind,
    specs,
)

_PORTS = {WarehouseKind.POSTGRES: 5432, WarehouseKind.REDSHIFT: 5439}
_URL_PARTS = ("host", "port", "database", "user")
_NEEDED = {
    WarehouseKind.POSTGRES: ("host", "database"),
    WarehouseKind.REDSHIFT: ("host", "database", "user"),
}


def catalog_url(project: Path) -> str:
    """The catalog of a project that names no other."""
    return f"sqlite:///{project / '.goldsmith' / 'catalog.db'}"


class Filled:
    """Every setting's value and origin: what was said, then what follows."""

    def __init__(self, said: Everything) -> None:
        self.said = said
        self._values = {name: (spec.default, "default") for name, spec in specs().items()}
        self._values |= {name: (one.value, one.origin) for name, one in said.values.items()}

    def __getitem__(self, name: str) -> Any:
        return self._values[name][0]

    def origin(self, name: str) -> str:
        return self._values[name][1]

    def unless_said(self, name: str, value: Any, origin: str = "default") -> None:
        if name not in self.said.values and value is not None:
            self._values[name] = (value, origin)


def fill(said: Everything, project: Path, environ: Mapping[str, str]) -> Filled:
    """Put the defaults beside what was said."""
    parts = {type_: _url_parts(said, f"warehouses.{type_}") for type_ in WAREHOUSES}
    values = Filled(said)
    home = project / ".goldsmith"
    values.unless_said("name", project.name or "goldsmith")
    values.unless_said("catalog.url", catalog_url(project))
    values.unless_said("staging.folder", str(home / "staging"))
    values.unless_said("schemas.folder", project / "schemas")
    _fill_storage(values, home, environ)
    for type_ in WAREHOUSES:
        _fill_warehouse(values, type_, parts[type_], home)
    _fill_lake(values, home)
    return values


def _url_parts(said: Everything, section: str) -> dict[str, Any]:
    """What a warehouse's URL says, but for parts said on their own as near or nearer."""
    url = said.values.get(f"{section}.url")
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
        said.refuse(f"{section}.url", f"{url.origin}: '{section}.url' must look like {form}.")
        return {}
    for part in _URL_PARTS:
        own = said.values.get(f"{section}.{part}")
        if own is not None and url.rank < own.rank:
            del said.values[f"{section}.{part}"]
    database, user = unquote(split.path.strip("/")), unquote(split.username or "")
    return {"host": host, "port": port, "database": database or None, "user": user or None}


def _fill_storage(values: Filled, home: Path, environ: Mapping[str, str]) -> None:
    endpoint = values["storage.endpoint"]
    on_s3 = any(values[f"storage.{name}"] for name in ("endpoint", "region", "access_key"))
    values.unless_said("storage.kind", StorageKind.S3 if on_s3 else StorageKind.FOLDER)
    values.unless_said("storage.folder", home / "s3")
    values.unless_said("storage.path_style", endpoint is not None)
    values.unless_said("storage.region", "us-east-1" if endpoint else None)
    for variable in ("AWS_DEFAULT_REGION", "AWS_REGION"):
        values.unless_said("storage.region", environ.get(variable) or None, f"${variable}")


def _fill_warehouse(values: Filled, type_: str, parts: Mapping[str, Any], home: Path) -> None:
    section = f"warehouses.{type_}"
    elsewhere = values[f"{section}.url"] or values[f"{section}.host"]
    own = WarehouseKind(type_) if elsewhere else WarehouseKind.DUCKDB
    values.unless_said(f"{section}.kind", own)
    values.unless_said(f"{section}.path", home / "warehouse.duckdb")
    values.unless_said(f"{section}.port", _PORTS.get(values[f"{section}.kind"]))
    for part, value in parts.items():
        values.unless_said(f"{section}.{part}", value, f"{section}.url")
    values.unless_said(f"{section}.staging", values["staging.folder"], "staging.folder")


def _fill_lake(values: Filled, home: Path) -> None:
    if values["lake.catalog"] is LakeCatalog.JDBC and values["lake.uri"] is None:
        if values["catalog.url"].startswith("postgresql"):
            values.unless_said("lake.uri", values["catalog.url"], "catalog.url")
            values.unless_said("lake.password", values["catalog.password"], "catalog.password")
        else:
            values.unless_said("lake.uri", f"sqlite:///{home / 'lake.db'}")
    on_s3 = values["storage.kind"] is StorageKind.S3
    values.unless_said("lake.io", LakeIO.S3 if on_s3 else LakeIO.HADOOP)
    values.unless_said("lake.warehouse", None if on_s3 else str(home / "lake"))


def missing(values: Filled, environment: str) -> list[str]:
    """A sentence for every value that the others make necessary and nobody said."""
    needed: dict[str, str] = {}
    for type_ in WAREHOUSES:
        section = f"warehouses.{type_}"
        kind = values[f"{section}.kind"]
        for part in _NEEDED.get(kind, ()):
            if f"{section}.url" not in values.said.refused:
                needed[f"{section}.{part}"] = f"a {kind} warehouse needs it"
        if kind is WarehouseKind.REDSHIFT and not values[f"{section}.staging"].startswith("s3:"):
            needed[f"{section}.staging"] = "COPY reads from an s3:// prefix"
    if values["storage.kind"] is StorageKind.S3 and values["lake.catalog"] is not LakeCatalog.REST:
        needed["lake.warehouse"] = "tables on S3 need an s3:// prefix"
    for one, other in (("access_key", "secret_key"), ("secret_key", "access_key")):
        if values[f"storage.{one}"] is not None:
            needed[f"storage.{other}"] = f"'storage.{one}' is of no use without it"
    if values["lake.catalog"] is LakeCatalog.REST:
        needed["lake.uri"] = "a rest catalog has an address"
    return [
        f"{looked_in(name, environment)} ({why})."
        for name, why in needed.items()
        if (values[name] is None or name.endswith(".staging")) and name not in values.said.refused
    ]
