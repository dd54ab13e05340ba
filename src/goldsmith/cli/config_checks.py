"""One probe for each thing the settings name: is it there, does it answer, what to do if not."""

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
from goldsmith.errors import GoldsmithError
from goldsmith.runtime import Runtime, with_password
from goldsmith.settings.sections import (
    LakeCatalog,
    StorageKind,
    WarehouseKind,
    WarehouseSettings,
    sqlite_file,
)
from goldsmith.settings.values import without_password

#: How long a server may take to answer.
SECONDS = 5

_MASTER = re.compile(r"local(\[(\*|\d+)(,\s*\d+)?\])?|yarn|spark-submit|spark://.+:\d+|k8s://.+")
_REMOTE = re.compile(r"sc://(?P<host>\[[^]]+\]|[^:/;]+)(:(?P<port>\d+))?(/.*)?")


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a probe found."""

    name: str
    ok: bool
    says: str
    hint: str = ""

    def as_plain(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One thing to try: it says what it found, or raises the reason."""

    name: str
    look: Callable[[], str]
    hint: str
    seconds: float = 2 * SECONDS


def check_all(runtime: Runtime) -> Iterator[Result]:
    """Try everything the settings name, one after the other."""
    for probe in _probes(runtime):
        result = _try(probe)
        yield Result(
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
    for place in _places(runtime):
        yield Probe(
            name="storage",
            look=partial(_place, runtime, place),
            hint="See the settings under [storage], and 'lake.warehouse' and 'staging.folder'.",
        )
    for type_, warehouse in settings.warehouses.items():
        if type_ == "redshift" or warehouse.kind is not WarehouseKind.DUCKDB:
            yield Probe(
                name=f"warehouse {type_}",
                look=partial(_warehouse, runtime, warehouse),
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
        # Finding Java may start one to ask its version.
        yield Probe(
            name="java", look=partial(_java, runtime), hint="See spark.java_home.", seconds=60
        )
        yield Probe(name="jars", look=_jars, hint="`make setup` fetches them.", seconds=60)


def _try(probe: Probe) -> Result:
    answers: SimpleQueue[str | Exception] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(probe.look())
        except Exception as error:
            answers.put(error)

    # Drivers keep their own limits; a silent name server is not covered by them.
    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=probe.seconds)
    except Empty:
        says = f"no answer within {probe.seconds:g} seconds"
        return Result(name=probe.name, ok=False, says=says, hint=probe.hint)
    if isinstance(answer, str):
        return Result(name=probe.name, ok=True, says=answer)
    hint = answer.hint if isinstance(answer, GoldsmithError) else ""
    return Result(name=probe.name, ok=False, says=_sentence(answer), hint=hint or probe.hint)


def _sentence(error: Exception) -> str:
    """The first line of what a driver says; its name where it says nothing."""
    details = error.args[0] if error.args else None
    # redshift_connector gives the server's answer as a mapping of one-letter fields.
    said = str(details["M"]) if isinstance(details, dict) and "M" in details else str(error)
    lines = said.strip().splitlines()
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
        # Its hint is to run this very command.
        raise ConnectionError(error.cause) from error
    try:
        return f"{runtime.settings.catalog.url}, revision {catalog.revision()}"
    finally:
        catalog.close()


def _places(runtime: Runtime) -> list[str]:
    """The folders and buckets data goes to, each once."""
    settings = runtime.settings
    on_s3 = settings.storage.kind is StorageKind.S3
    known = [settings.address(prefix) for prefix in settings.storage.bind]
    known += [settings.address(settings.lake.warehouse)] if settings.lake.warehouse else []
    known += [settings.address(settings.staging.folder)]
    places = [] if on_s3 else [str(settings.storage.folder)]
    places += ["/".join(one.split("/")[:3]) if one.startswith("s3://") else one for one in known]
    if on_s3 and not any(place.startswith("s3://") for place in places):
        places.insert(0, "s3://")
    return list(dict.fromkeys(places))


def _place(runtime: Runtime, place: str) -> str:
    if not place.startswith("s3://"):
        return _folder(Path(place))
    storage = runtime.settings.storage
    client = _client(runtime, "s3", storage.endpoint)
    where = f" at {storage.endpoint}" if storage.endpoint else ""
    if bucket := place.removeprefix("s3://"):
        client.list_objects_v2(Bucket=bucket, MaxKeys=1)
        return f"{place}{where} can be listed"
    found = client.list_buckets()
    return f"S3{where}: {len(found['Buckets'])} buckets"


def _folder(folder: Path) -> str:
    there = next(one for one in (folder, *folder.parents) if one.exists())
    # Permission bits do not tell of a full or read-only disk; a nameless file does.
    with tempfile.TemporaryFile(dir=there) as file:
        file.write(b"goldsmith")
        file.flush()
    return f"{folder}" if there == folder else f"{folder} (will be made)"


def _client(runtime: Runtime, service: str, endpoint: str | None) -> Any:
    """A client of an AWS service, or of one that stands in for it."""
    boto3 = library("boto3", extra="aws")
    storage = runtime.settings.storage
    keys = {
        "aws_access_key_id": storage.access_key,
        "aws_secret_access_key": storage.secret_key,
    }
    return boto3.client(
        service,
        region_name=storage.region,
        endpoint_url=endpoint,
        config=import_module("botocore.config").Config(
            connect_timeout=SECONDS,
            read_timeout=SECONDS,
            retries={"total_max_attempts": 1},
            s3={"addressing_style": "path" if storage.path_style else "auto"},
        ),
        **{name: runtime.secrets.resolve(key).reveal() for name, key in keys.items() if key},
    )


def _warehouse(runtime: Runtime, warehouse: WarehouseSettings) -> str:
    match warehouse.kind:
        case WarehouseKind.DUCKDB:
            return _duckdb(warehouse.path)
        case WarehouseKind.POSTGRES:
            connection = _postgres(runtime, warehouse)
        case WarehouseKind.REDSHIFT:
            connection = _redshift(runtime, warehouse)
    connection.close()
    place = f"{warehouse.host}:{warehouse.port}/{warehouse.database}"
    return f"{warehouse.kind} at {place} as {warehouse.user or 'the default user'}"


def _duckdb(file: Path) -> str:
    import duckdb

    if not file.exists():
        _folder(file.parent)
        return f"duckdb {file} (will be made)"
    try:
        duckdb.connect(str(file), read_only=True).close()
    except duckdb.IOException as error:
        if "lock" not in str(error):
            raise
        return f"duckdb {file}, in use by another process now"
    return f"duckdb {file}"


def _postgres(runtime: Runtime, warehouse: WarehouseSettings) -> Any:
    psycopg = library("psycopg", extra="postgres")
    more: dict[str, str] = {}
    if warehouse.ssl is not None:
        more["sslmode"] = "require" if warehouse.ssl else "disable"
    return psycopg.connect(
        host=warehouse.host,
        port=warehouse.port,
        dbname=warehouse.database,
        user=warehouse.user,
        password=_password(runtime, warehouse),
        connect_timeout=SECONDS,
        **more,
    )


def _redshift(runtime: Runtime, warehouse: WarehouseSettings) -> Any:
    redshift_connector = library("redshift_connector", extra="aws")
    return redshift_connector.connect(
        host=warehouse.host,
        port=warehouse.port,
        database=warehouse.database,
        user=warehouse.user,
        password=_password(runtime, warehouse) or "",
        ssl=warehouse.ssl is not False,
        timeout=SECONDS,
    )


def _password(runtime: Runtime, warehouse: WarehouseSettings) -> str | None:
    reference = warehouse.password
    return None if reference is None else runtime.secrets.resolve(reference).reveal()


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
    from urllib.request import Request, urlopen

    request = Request(f"{uri.rstrip('/')}/v1/config")
    if token := runtime.settings.lake.options.get("token"):
        bearer = runtime.secrets.resolve(token).reveal() if is_reference(token) else token
        request.add_header("Authorization", f"Bearer {bearer}")
    with urlopen(request, timeout=SECONDS):
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
    from goldsmith.engine.java import find

    java = find(runtime.settings.spark.java_home)
    return f"Java {java.version} at {java.home}"


def _jars() -> str:
    from goldsmith.engine.jars import paths

    return f"{len(paths())} jars"
