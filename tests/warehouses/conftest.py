"""The three warehouses, open, with a way to stage rows for each and to look into it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator

import pytest

from goldsmith.credentials import Secrets
from goldsmith.engine.warehouses.open import open_warehouse
from goldsmith.settings.settings import Settings
from goldsmith.storage.storage import Storage
from servers import redshift as redshift_server
from servers import s3 as s3_server
from servers.postgres import Postgres
from servers.s3 import S3
from warehouses.bench import Bench, numbers

MakePlaces = Callable[..., Storage]
BUCKET = "warehouse-tests"
KINDS = (
    "duckdb",
    pytest.param("postgres", marks=pytest.mark.postgres),
    pytest.param("redshift", marks=pytest.mark.postgres),
)


@pytest.fixture(scope="session")
def s3() -> Iterator[S3]:
    with s3_server.running(BUCKET) as server:
        yield server


@pytest.fixture(scope="session")
def make_places(tmp_path_factory: pytest.TempPathFactory) -> MakePlaces:
    """Places of a project whose goldsmith.toml says what the test says."""

    def make(toml: str, **environ: str) -> Storage:
        folder = tmp_path_factory.mktemp("project")
        (folder / "goldsmith.toml").write_text(toml)
        settings = Settings.load(environ, project=folder, environment=None, cwd=folder)
        return Storage(settings, Secrets(environ))

    return make


@pytest.fixture(scope="session", params=KINDS)
def warehouse(request: pytest.FixtureRequest) -> Bench:
    """Each warehouse in turn."""
    bench: Bench = request.getfixturevalue(request.param)
    return bench


@pytest.fixture(scope="session", params=KINDS[1:])
def server(request: pytest.FixtureRequest) -> Bench:
    """Each warehouse that is a server, in turn."""
    bench: Bench = request.getfixturevalue(request.param)
    return bench


def s3_settings(s3: S3) -> str:
    return (
        f'[storage]\nendpoint = "{s3.endpoint}"\naccess_key = "env:S3_KEY"\n'
        f'secret_key = "env:S3_SECRET"\n[lake]\nwarehouse = "s3://{BUCKET}/lake"\n'
        f'[staging]\nfolder = "s3://{BUCKET}/staging"\n'
    )


S3_KEYS = {"S3_KEY": s3_server.ACCESS_KEY, "S3_SECRET": s3_server.SECRET_KEY}


@pytest.fixture(scope="session")
def duckdb(make_places: MakePlaces) -> Bench:
    storage = make_places("")
    return _bench("duckdb", storage, str(storage.settings.staging.folder), "")


@pytest.fixture(scope="session")
def postgres(make_places: MakePlaces, postgres_server: Postgres) -> Iterator[Bench]:
    for url in _database(postgres_server):
        storage = make_places(f'[warehouses.postgres]\nurl = "{url}"\n')
        yield _bench("postgres", storage, str(storage.settings.staging.folder), url)


@pytest.fixture(scope="session")
def redshift(make_places: MakePlaces, postgres_server: Postgres, s3: S3) -> Iterator[Bench]:
    for url in _database(postgres_server):
        with redshift_server.running(url, s3) as standin:
            database = url.rpartition("/")[2]
            toml = s3_settings(s3) + (
                f'[warehouses.redshift]\nhost = "127.0.0.1"\nport = {standin.port}\n'
                f'database = "{database}"\nuser = "postgres"\nssl = false\n'
                'iam_role = "arn:aws:iam::123456789012:role/copy"\n'
            )
            storage = make_places(toml, **S3_KEYS)
            yield _bench("redshift", storage, f"s3://{BUCKET}/staging", url)


def _bench(kind: str, storage: Storage, staging: str, url: str) -> Bench:
    warehouse = open_warehouse(storage, kind)
    return Bench(kind=kind, warehouse=warehouse, storage=storage, staging=staging, postgres=url)


def _database(server: Postgres) -> Iterator[str]:
    name = f"warehouse_{os.getpid()}_{next(numbers)}"
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
