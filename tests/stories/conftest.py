"""The environments one catalog runs in, and the servers they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from servers import redshift as redshift_server
from servers import s3 as s3_server
from servers import spark as spark_server
from servers.postgres import Postgres
from servers.s3 import S3
from servers.spark import ConnectServer
from stories.environment_catalog import Environment

LOCAL = """
[spark]
master = "local[2]"
driver_memory = "1g"

[spark.conf]
"spark.sql.shuffle.partitions" = "2"
"spark.driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""
_KEYS = {"S3_KEY": s3_server.ACCESS_KEY, "S3_SECRET": s3_server.SECRET_KEY}
Gold = Callable[[str], list[dict[str, Any]]]
#: Makes an environment on S3: its name, and what its settings say besides.
OnS3 = Callable[..., Environment]


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A laptop with nothing installed."""
    folder = tmp_path_factory.mktemp("embedded")
    home = folder / ".goldsmith"

    def put(name: str, content: bytes) -> None:
        file = home / "s3" / "shop" / "raw" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    gold = _from_duckdb(home / "warehouse.duckdb")
    return Environment(name="embedded", folder=folder, toml=LOCAL, put=put, gold=gold)


@pytest.fixture(scope="session")
def s3() -> Iterator[S3]:
    with s3_server.running() as server:
        yield server


@pytest.fixture(scope="session")
def database(postgres_server: Postgres) -> Iterator[Callable[[str], str]]:
    """Makes a PostgreSQL database and says its address."""
    made: list[str] = []

    def make(name: str) -> str:
        postgres_server.create(name)
        made.append(name)
        return postgres_server.url(name)

    yield make
    for name in made:
        postgres_server.drop(name)


@pytest.fixture(scope="session")
def on_s3(
    tmp_path_factory: pytest.TempPathFactory, s3: S3, database: Callable[[str], str]
) -> Iterator[OnS3]:
    """Raw files and lake in a bucket of the environment's own, its catalog in a database."""
    client = s3.client()

    def make(
        name: str, *, lake: str = "", spark: str = LOCAL, warehouse: tuple[str, str] | None = None
    ) -> Environment:
        bucket = f"shop-{name}"
        client.create_bucket(Bucket=bucket)
        catalog = database(f"catalog_{name}")
        settings, url = warehouse or _postgres_warehouse(database(f"warehouse_{name}"))
        toml = (
            f'[catalog]\nurl = "{catalog}"\n'
            f'[storage]\nendpoint = "{s3.endpoint}"\naccess_key = "env:S3_KEY"\n'
            f'secret_key = "env:S3_SECRET"\n[storage.bind]\n"s3://shop/" = "s3://{bucket}/"\n'
            f'[staging]\nfolder = "s3://shop/staging"\n'
            f'[lake]\nwarehouse = "s3://shop/lake"\n{lake}\n'
            f"[warehouses.redshift]\n{settings}\n"
        )
        return Environment(
            name=name,
            folder=tmp_path_factory.mktemp(name),
            toml=toml + spark,
            put=lambda key, body: client.put_object(Bucket=bucket, Key=f"raw/{key}", Body=body),
            gold=_from_postgres(url),
            environ=_KEYS,
        )

    yield make
    client.close()


def _postgres_warehouse(url: str) -> tuple[str, str]:
    return f'kind = "postgres"\nurl = "{url}"', url


@pytest.fixture(scope="session")
def to_postgres(on_s3: OnS3) -> Environment:
    """S3 over HTTP, catalog, list of lake tables and warehouse in PostgreSQL."""
    return on_s3("postgres")


@pytest.fixture(scope="session")
def to_redshift(on_s3: OnS3, database: Callable[[str], str], s3: S3) -> Iterator[Environment]:
    """The same S3, and a Redshift that copies from it."""
    url = database("warehouse_redshift")
    with redshift_server.running(url, s3) as standin:
        settings = (
            f'host = "127.0.0.1"\nport = {standin.port}\ndatabase = "warehouse_redshift"\n'
            'user = "postgres"\nssl = false\niam_role = "arn:aws:iam::123456789012:role/copy"'
        )
        yield on_s3("redshift", warehouse=(settings, url))


@pytest.fixture(scope="session")
def in_glue(on_s3: OnS3, s3: S3) -> Environment:
    """Lake tables listed in the Glue Data Catalog."""
    return on_s3("glue", lake=f'catalog = "glue"\nglue_endpoint = "{s3.endpoint}"')


@pytest.fixture(scope="session")
def connect_server() -> Iterator[ConnectServer]:
    with spark_server.connect_server() as server:
        yield server


@pytest.fixture(scope="session")
def by_connect(on_s3: OnS3, connect_server: ConnectServer) -> Environment:
    """Spark is a server that others started."""
    return on_s3("connect", spark=f'[spark]\nremote = "{connect_server.remote}"\n')


@pytest.fixture(scope="session")
def on_a_cluster(on_s3: OnS3) -> Iterator[Environment]:
    """A Spark standalone cluster."""
    with spark_server.standalone_cluster() as master:
        conf = LOCAL + (
            '"spark.driver.host" = "127.0.0.1"\n"spark.executor.memory" = "1g"\n'
            '"spark.cores.max" = "2"\n'
        )
        yield on_s3("cluster", spark=conf.replace("local[2]", master))


def _from_duckdb(file: Path) -> Gold:
    def gold(table: str) -> list[dict[str, Any]]:
        import duckdb

        with duckdb.connect(str(file), read_only=True) as connection:
            found: list[dict[str, Any]] = (
                connection.sql(f"FROM shop.{table}").to_arrow_table().to_pylist()
            )
            return found

    return gold


def _from_postgres(url: str) -> Gold:
    def gold(table: str) -> list[dict[str, Any]]:
        import psycopg
        from psycopg.rows import dict_row

        with psycopg.connect(url, row_factory=dict_row, options="-ctimezone=UTC") as connection:
            return connection.execute(f"SELECT * FROM shop.{table}").fetchall()

    return gold
