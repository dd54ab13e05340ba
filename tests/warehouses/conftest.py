"""The three warehouses, open, with a way to stage rows for each and to look into it."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from servers import redshift as redshift_server
from servers import s3 as s3_server
from servers.postgres import Postgres
from servers.s3 import S3

from goldsmith.credentials import Secrets
from goldsmith.engine.names import name
from goldsmith.engine.warehouses.open import open_warehouse
from goldsmith.engine.warehouses.staged import file_system
from goldsmith.engine.warehouses.warehouse import Load, LoadColumn, Loaded, Warehouse
from goldsmith.planning.places import Places
from goldsmith.settings import Settings

BUCKET = "warehouse-tests"
KINDS = (
    "duckdb",
    pytest.param("postgres", marks=pytest.mark.postgres),
    pytest.param("redshift", marks=pytest.mark.postgres),
)
_numbers = itertools.count(1)

_ARROW = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "time(6)": pa.time64("us"),
    "decimal(12,2)": pa.decimal128(12, 2),
    "decimal(38,10)": pa.decimal128(38, 10),
    "array<string>": pa.list_(pa.string()),
    "map<string,int>": pa.map_(pa.string(), pa.int32()),
    "struct<a:int,b:decimal(12,2)>": pa.struct([("a", pa.int32()), ("b", pa.decimal128(12, 2))]),
    "variant": pa.string(),
}

Rows = Sequence[tuple[Any, ...]]


def nowhere(point: str) -> None:
    """Nobody waits at a point."""


@dataclass
class Bench:
    """A warehouse on the bench: stage rows, load them, look at what is there."""

    kind: str
    warehouse: Warehouse
    places: Places
    staging: str
    #: Where PostgreSQL is, for the two that are one.
    postgres: str = ""
    points: list[str] = field(default_factory=list)

    def table(self) -> str:
        """The location of a table that no other test has."""
        return f"shop.table_{next(_numbers)}"

    def stage(self, rows: Rows, schema: Mapping[str, str], *, files: int = 1) -> str:
        """Write rows as Parquet to where the warehouse reads them."""
        address = f"{self.staging}/stage-{next(_numbers)}"
        system, root = file_system(self.places, address)
        system.create_dir(root, recursive=True)
        fields = pa.schema([(column, _ARROW[type_]) for column, type_ in schema.items()])
        for number in range(files):
            part = rows[number::files]
            columns = list(zip(*part, strict=True)) if part else [()] * len(fields)
            arrays = [pa.array(v, f.type) for v, f in zip(columns, fields, strict=True)]
            table = pa.Table.from_arrays(arrays, schema=fields)
            pq.write_table(table, f"{root}/part-{number:05}.parquet", filesystem=system)
        # Spark leaves this one beside the data.
        with system.open_output_stream(f"{root}/_SUCCESS"):
            pass
        return address

    def order(self, location: str, rows: Rows, schema: Mapping[str, str], **more: Any) -> Load:
        """A load of staged rows, not carried out yet."""
        number = next(_numbers)
        said = {
            "stage_run_id": f"try-20261116-093012-{number:08x}",
            "mode": "append",
            "token": number,
            "rows": len(rows),
            **more,
        }
        if "staged" not in said:
            said["staged"] = self.stage(rows, schema)
        columns = tuple(LoadColumn(name=c, type=t) for c, t in schema.items())
        return Load(location=location, columns=columns, **said)

    def load(self, location: str, rows: Rows, schema: Mapping[str, str], **more: Any) -> Loaded:
        return self.warehouse.load(self.order(location, rows, schema, **more), nowhere)

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Ask the warehouse by a connection of the test's own."""
        if self.kind == "duckdb":
            with duckdb.connect(str(self.places.settings.warehouses["duckdb"].path)) as connection:
                connection.execute("SET TimeZone = 'UTC'")
                done = connection.execute(sql.replace("%s", "?"), list(values))
                return done.fetchall() if done.description else []
        with psycopg.connect(self.postgres, autocommit=True) as connection:
            cursor = connection.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []

    def rows(self, location: str, *columns: str) -> list[tuple[Any, ...]]:
        """Everything in a table, in no order."""
        folded = [c.lower() if self.kind == "redshift" else c for c in columns]
        chosen = ", ".join(name(c, dialect="postgres") for c in folded) or "*"
        return self.ask(f"SELECT {chosen} FROM {self.sql(location)}")

    def sql(self, location: str) -> str:
        return name(*location.split("."), dialect="postgres")

    def litter(self) -> list[str]:
        """What loads left behind: anything of ours but the ledger."""
        found = self.ask(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_schema = 'goldsmith' OR table_name LIKE 'load%%'".replace("%%", "%")
        )
        ours = {("goldsmith", "loads"), ("redshift_system", "load_errors")}
        return [".".join(one) for one in found if one not in ours]


@pytest.fixture(scope="session")
def s3() -> Iterator[S3]:
    with s3_server.running(BUCKET) as server:
        yield server


@pytest.fixture(scope="session")
def make_places(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Places]:
    """Places of a project whose goldsmith.toml says what the test says."""

    def make(toml: str, **environ: str) -> Places:
        folder = tmp_path_factory.mktemp("project")
        (folder / "goldsmith.toml").write_text(toml)
        settings = Settings.load(environ, project=folder, environment=None, cwd=folder)
        return Places(settings, Secrets(environ))

    return make


@pytest.fixture(scope="session", params=KINDS)
def warehouse(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """Each warehouse in turn."""
    yield from _OPEN[request.param](request)


@pytest.fixture(scope="session", params=KINDS[1:])
def server(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """Each warehouse that is a server, in turn."""
    yield from _OPEN[request.param](request)


@pytest.fixture(scope="session")
def redshift(request: pytest.FixtureRequest) -> Iterator[Bench]:
    yield from _redshift(request)


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Iterator[Bench]:
    yield from _postgres(request)


@pytest.fixture(scope="session")
def embedded(request: pytest.FixtureRequest) -> Iterator[Bench]:
    yield from _duckdb(request)


def s3_settings(s3: S3) -> str:
    return (
        f'[storage]\nendpoint = "{s3.endpoint}"\naccess_key = "env:S3_KEY"\n'
        f'secret_key = "env:S3_SECRET"\n[lake]\nwarehouse = "s3://{BUCKET}/lake"\n'
        f'[staging]\nfolder = "s3://{BUCKET}/staging"\n'
    )


S3_KEYS = {"S3_KEY": s3_server.ACCESS_KEY, "S3_SECRET": s3_server.SECRET_KEY}


def _duckdb(request: pytest.FixtureRequest) -> Iterator[Bench]:
    places: Places = request.getfixturevalue("make_places")("")
    staging = str(places.settings.project / ".goldsmith" / "staging")
    yield _bench("duckdb", places, staging, "")


def _postgres(request: pytest.FixtureRequest) -> Iterator[Bench]:
    for url in _database(request.getfixturevalue("postgres_server")):
        toml = f'[warehouses.postgres]\nurl = "{url}"\n'
        places: Places = request.getfixturevalue("make_places")(toml)
        staging = str(places.settings.project / ".goldsmith" / "staging")
        yield _bench("postgres", places, staging, url)


def _redshift(request: pytest.FixtureRequest) -> Iterator[Bench]:
    s3: S3 = request.getfixturevalue("s3")
    for url in _database(request.getfixturevalue("postgres_server")):
        with redshift_server.running(url, s3) as standin:
            database = url.rpartition("/")[2]
            toml = s3_settings(s3) + (
                f'[warehouses.redshift]\nhost = "127.0.0.1"\nport = {standin.port}\n'
                f'database = "{database}"\nuser = "postgres"\nssl = false\n'
                'iam_role = "arn:aws:iam::123456789012:role/copy"\n'
            )
            places: Places = request.getfixturevalue("make_places")(toml, **S3_KEYS)
            yield _bench("redshift", places, f"s3://{BUCKET}/staging", url)


_OPEN: Mapping[str, Callable[[pytest.FixtureRequest], Iterator[Bench]]] = {
    "duckdb": _duckdb,
    "postgres": _postgres,
    "redshift": _redshift,
}


def _bench(kind: str, places: Places, staging: str, url: str) -> Bench:
    warehouse = open_warehouse(places, kind)
    return Bench(kind=kind, warehouse=warehouse, places=places, staging=staging, postgres=url)


def _database(server: Postgres) -> Iterator[str]:
    name = f"warehouse_{os.getpid()}_{next(_numbers)}"
    server.create(name)
    yield server.url(name)
    server.drop(name)


@pytest.fixture
def meanwhile() -> Iterator[Callable[[Callable[[], object]], threading.Thread]]:
    """Do something in another thread; it has ended when the test has."""
    started: list[threading.Thread] = []

    def start(work: Callable[[], object]) -> threading.Thread:
        started.append(threading.Thread(target=work, daemon=True))
        started[-1].start()
        return started[-1]

    yield start
    for thread in started:
        thread.join(30)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "folder"
