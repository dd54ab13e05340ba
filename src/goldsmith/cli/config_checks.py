"""Probe every connection and folder in the settings; give a hint for each that fails."""

from __future__ import annotations

import re
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from goldsmith.credentials import is_reference, library
from goldsmith.engine.warehouses.open import WAREHOUSES
from goldsmith.engine.warehouses.warehouse import Probing, WarehouseKind
from goldsmith.errors import GoldsmithError
from goldsmith.runtime import Runtime, with_password
from goldsmith.settings.sections import (
    LakeCatalog,
    StorageKind,
    WarehouseSettings,
    sqlite_file,
)
from goldsmith.settings.values import without_password

#: How long a server may take to answer.
SECONDS = 5

_MASTER = re.compile(r"local(\[(\*|\d+)(,\s*\d+)?\])?|yarn|spark-submit|spark://.+:\d+|k8s://.+")
_REMOTE = re.compile(r"sc://(?P<host>\[[^]]+\]|[^:/;]+)(:(?P<port>\d+))?(/.*)?")


@dataclass(frozen=True, kw_only=True)
class ProbeResult:
    """The result of a probe."""

    name: str
    ok: bool
    says: str
    hint: str = ""

    def as_plain(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One connection or folder to try: `look` returns what it found, or raises the reason."""

    name: str
    look: Callable[[], str]
    hint: str
    seconds: float = 2 * SECONDS


def check_all(runtime: Runtime) -> Iterator[ProbeResult]:
    """Run all probes, one after the other."""
    for probe in _probes(runtime):
        result = _try(probe)
        yield ProbeResult(
            name=result.name,
            ok=result.ok,
            says=without_password(runtime.secrets.redact(result.says)),
            hint=result.hint,
        )


def _probes(runtime: Runtime) -> Iterator[Probe]:
    settings = runtime.settings
    yield Probe(
        name="catalog",
        look=partial(_catalog, runtime),
        hint="See the settings catalog.url and catalog.password.",
    )
    for location in _storage_locations(runtime):
        yield Probe(
            name="storage",
            look=partial(_list_location, runtime, location),
            hint="See the settings under [storage], and 'lake.warehouse' and 'staging.folder'.",
        )
    for type_, warehouse in settings.warehouses.items():
        kind = WAREHOUSES.get(warehouse.kind)
        # All types share the embedded file: it is tried once.
        if type_ == "redshift" or not kind.is_embedded:
            yield Probe(
                name=f"warehouse {type_}",
                look=partial(_warehouse, runtime, kind, warehouse),
                hint=f"See the settings under [warehouses.{type_}].",
            )
    yield Probe(
        name="lake",
        look=partial(_lake, runtime),
        hint="See the settings under [lake].",
    )
    yield Probe(
        name="spark",
        look=partial(_spark, runtime),
        hint="See the settings spark.master and spark.remote.",
    )
    if settings.spark.remote is None:
        # Finding Java may start a JVM to read its version.
        yield Probe(
            name="java", look=partial(_java, runtime), hint="See spark.java_home.", seconds=60
        )
        yield Probe(name="jars", look=_jars, hint="`goldsmith setup` fetches them.", seconds=60)


def _try(probe: Probe) -> ProbeResult:
    answers: SimpleQueue[str | Exception] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(probe.look())
        except Exception as error:
            answers.put(error)

    # Drivers have their own timeouts, but these do not cover a name server without an answer.
    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=probe.seconds)
    except Empty:
        says = f"no answer within {probe.seconds:g} seconds"
        return ProbeResult(name=probe.name, ok=False, says=says, hint=probe.hint)
    if isinstance(answer, str):
        return ProbeResult(name=probe.name, ok=True, says=answer)
    hint = answer.hint if isinstance(answer, GoldsmithError) else ""
    return ProbeResult(name=probe.name, ok=False, says=_sentence(answer), hint=hint or probe.hint)


def _sentence(error: Exception) -> str:
    """The first line of a driver's error; the error's class if it is empty."""
    details = error.args[0] if error.args else None
    # redshift_connector gives the server's error as a mapping of one-letter fields.
    message = str(details["M"]) if isinstance(details, dict) and "M" in details else str(error)
    lines = message.strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__


def _catalog(runtime: Runtime) -> str:
    from goldsmith.catalog.catalog import Catalog
    from goldsmith.catalog.errors import CatalogUnreachable

    url = runtime.catalog_url
    if url.startswith("postgresql"):
        library("psycopg", extra="postgres")
        url += f"{'&' if '?' in url else '?'}connect_timeout={SECONDS}"
    try:
        catalog = Catalog.open(url)
    except CatalogUnreachable as error:
        # Raised as another error, because its hint is to run this very command.
        raise ConnectionError(error.cause) from error
    try:
        return f"{runtime.settings.catalog.url}, revision {catalog.revision()}"
    finally:
        catalog.close()


def _storage_locations(runtime: Runtime) -> list[str]:
    """The folders and buckets that data is written to, each once."""
    settings = runtime.settings
    on_s3 = settings.storage.kind is StorageKind.S3
    known = [settings.address(prefix) for prefix in settings.storage.bind]
    known += [settings.address(settings.lake.warehouse)] if settings.lake.warehouse else []
    known += [settings.address(settings.staging.folder)]
    locations = [] if on_s3 else [str(settings.storage.folder)]
    locations += [
        "/".join(address.split("/")[:3]) if address.startswith("s3://") else address
        for address in known
    ]
    if on_s3 and not any(location.startswith("s3://") for location in locations):
        locations.insert(0, "s3://")
    return list(dict.fromkeys(locations))


def _list_location(runtime: Runtime, location: str) -> str:
    if not location.startswith("s3://"):
        return _folder(Path(location))
    storage_settings = runtime.settings.storage
    client = _client(runtime, "s3", storage_settings.endpoint)
    where = f" at {storage_settings.endpoint}" if storage_settings.endpoint else ""
    if bucket := location.removeprefix("s3://"):
        client.list_objects_v2(Bucket=bucket, MaxKeys=1)
        return f"{location}{where} can be listed"
    found = client.list_buckets()
    return f"S3{where}: {len(found['Buckets'])} buckets"


def _folder(folder: Path) -> str:
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    # Permission bits do not show a full or read-only disk; writing a temporary file does.
    with tempfile.TemporaryFile(dir=there) as file:
        file.write(b"goldsmith")
        file.flush()
    return f"{folder}" if there == folder else f"{folder} (will be made)"


def _client(runtime: Runtime, service: str, endpoint: str | None) -> Any:
    """A client of an AWS service, or of a compatible service."""
    boto3 = library("boto3", extra="aws")
    storage_settings = runtime.settings.storage
    keys = {
        "aws_access_key_id": storage_settings.access_key,
        "aws_secret_access_key": storage_settings.secret_key,
    }
    return boto3.client(
        service,
        region_name=storage_settings.region,
        endpoint_url=endpoint,
        config=import_module("botocore.config").Config(
            connect_timeout=SECONDS,
            read_timeout=SECONDS,
            retries={"total_max_attempts": 1},
            s3={"addressing_style": "path" if storage_settings.path_style else "auto"},
        ),
        **{name: runtime.secrets.resolve(key).reveal() for name, key in keys.items() if key},
    )


def _warehouse(runtime: Runtime, kind: WarehouseKind, warehouse: WarehouseSettings) -> str:
    reference = warehouse.password
    password = None if reference is None else runtime.secrets.resolve(reference).reveal()
    return kind.probe(warehouse, Probing(password=password, seconds=SECONDS, try_folder=_folder))


def _lake(runtime: Runtime) -> str:
    lake = runtime.settings.lake
    match lake.catalog:
        case LakeCatalog.JDBC:
            return _lake_database(runtime, lake.uri or "")
        case LakeCatalog.GLUE:
            _client(runtime, "glue", lake.glue_endpoint).get_databases(MaxResults=1)
            return f"Glue Data Catalog{f' at {lake.glue_endpoint}' if lake.glue_endpoint else ''}"
        case LakeCatalog.REST:
            return _lake_service(runtime, lake.uri or "")


def _lake_database(runtime: Runtime, uri: str) -> str:
    lake = runtime.settings.lake
    if file := sqlite_file(uri):
        if file.exists():
            import sqlite3

            sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=SECONDS).close()
            return str(file)
        return f"{_folder(file.parent)}: {file.name} will be made"
    psycopg = library("psycopg", extra="postgres")
    url = with_password(uri, lake.password, runtime.secrets)
    psycopg.connect(url, connect_timeout=SECONDS).close()
    return f"{uri}, schema {lake.schema}"


def _lake_service(runtime: Runtime, uri: str) -> str:
    from goldsmith.http_client import get

    headers: dict[str, str] = {}
    if token := runtime.settings.lake.options.get("token"):
        bearer = runtime.secrets.resolve(token).reveal() if is_reference(token) else token
        headers["Authorization"] = f"Bearer {bearer}"
    get(f"{uri.rstrip('/')}/v1/config", headers, seconds=SECONDS)
    return f"REST catalog at {uri}"


def _spark(runtime: Runtime) -> str:
    spark = runtime.settings.spark
    if spark.remote is not None:
        found = _REMOTE.fullmatch(spark.remote)
        if found is None:
            raise ValueError(f"spark.remote must look like sc://HOST:PORT, not {spark.remote}")
        _reach(found["host"].strip("[]"), int(found["port"] or 15002))
        return f"Spark Connect at {spark.remote}"
    if not _MASTER.fullmatch(spark.master):
        raise ValueError(f"'{spark.master}' is no Spark master: local[*], spark://…, yarn, k8s://…")
    if spark.master.startswith("spark://"):
        host, _, port = spark.master.removeprefix("spark://").split(",")[0].rpartition(":")
        _reach(host, int(port))
    return f"master {spark.master}"


def _reach(host: str, port: int) -> None:
    try:
        socket.create_connection((host, port), timeout=SECONDS).close()
    except OSError as error:
        raise ConnectionError(f"nothing answers at {host}:{port} ({error})") from error


def _java(runtime: Runtime) -> str:
    from goldsmith.setup.java import find

    java = find(runtime.settings.spark.java_home)
    return f"Java {java.version} at {java.home}"


def _jars() -> str:
    from goldsmith.setup.jars import paths

    return f"{len(paths())} jars"
