"""A Spark session from settings: a laptop, a cluster or a Spark Connect server, alike."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldsmith.engine import jars, java
from goldsmith.planning.places import LAKE, Places
from goldsmith.settings.sections import LakeCatalog, LakeIO, StorageKind, sqlite_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What every session has, wherever it runs: one time zone, one arithmetic.
_MEANING = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
}


_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_LOG = Path(__file__).with_name("log4j2.properties")


def start(places: Places) -> SparkSession:
    """The session all stages of this process share; each stage gets a new one from it."""
    _quieten()
    if places.settings.spark.remote is not None:
        return _connect(places)
    return _classic(places)


def _quieten() -> None:
    """pyspark writes every SQL error to standard error by itself; we report it once."""
    logging.getLogger("SQLQueryContextLogger").disabled = True


def new_session(spark: SparkSession) -> SparkSession:
    """A session of a stage's own: views and settings of one stage are not another's."""
    if is_connect(spark):
        own: SparkSession = spark.newSession()
    else:
        own = spark.newSession()
        for name, value in _MEANING.items():
            own.conf.set(name, value)
    return own


def stop(spark: SparkSession) -> None:
    """End the session all stages share; its JVM may be gone already."""
    from py4j.protocol import Py4JError

    with contextlib.suppress(Py4JError, OSError):
        spark.stop()


def is_connect(spark: Any) -> bool:
    return type(spark).__module__.startswith("pyspark.sql.connect")


def _classic(places: Places) -> SparkSession:
    spark = places.settings.spark
    found = java.find(spark.java_home)
    os.environ["JAVA_HOME"] = str(found.home)
    # Workers must be the Python we are: another one on PATH may have other packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if spark.master.startswith("local"):
        # Nobody else talks to a Spark inside this process.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("goldsmith").master(spark.master)
    for name, value in conf(places).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _connect(places: Places) -> SparkSession:
    from pyspark.sql import SparkSession

    remote = places.settings.spark.remote
    token = places.secret(places.settings.spark.token)
    if token is not None:
        remote = (
            f"{remote}/;token={token}" if "/;" not in str(remote) else f"{remote};token={token}"
        )
    session = SparkSession.builder.remote(str(remote)).getOrCreate()
    for name, value in {**_MEANING, **dict(lake_conf(places)), **dict(_shared(places))}.items():
        session.conf.set(name, value)
    return session


def conf(places: Places) -> dict[str, str]:
    """Every Spark setting of a session that has a JVM of ours."""
    spark = places.settings.spark
    path = os.pathsep.join(str(jar) for jar in jars.paths())
    said = {
        **_MEANING,
        "spark.driver.memory": spark.driver_memory,
        "spark.driver.extraClassPath": path,
        "spark.executor.extraClassPath": path,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.extensions": (
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        ),
        # Our own ledger says which files to read: Spark need not start a job to list them.
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
        # A stop has to reach tasks that hang.
        "spark.task.reaper.enabled": "true",
        "spark.task.reaper.killTimeout": "5s",
        "spark.task.reaper.pollingInterval": "1s",
        **dict(lake_conf(places)),
        **dict(_shared(places)),
    }
    if spark.master.startswith("local"):
        said |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 2)),
        }
    said |= spark.conf
    # Beside what somebody wants of the JVM, its log is ours.
    options = f"{spark.conf.get(_JAVA_OPTIONS, '')} -Dlog4j2.configurationFile={_LOG.as_uri()}"
    return {**said, _JAVA_OPTIONS: options.strip()}


def lake_conf(places: Places) -> Iterator[tuple[str, str]]:
    """The lake's catalog of Iceberg tables."""
    settings, lake = places.settings, places.settings.lake
    prefix = f"spark.sql.catalog.{LAKE}"
    yield prefix, "org.apache.iceberg.spark.SparkCatalog"
    # With the cache on, one session still saw the old rows after another had published.
    yield f"{prefix}.cache-enabled", "false"
    yield f"{prefix}.warehouse", spark_address(places, lake.warehouse or "")
    if lake.catalog is LakeCatalog.GLUE:
        yield f"{prefix}.type", "glue"
        if lake.glue_endpoint is not None:
            yield f"{prefix}.glue.endpoint", lake.glue_endpoint
    elif lake.catalog is LakeCatalog.REST:
        yield f"{prefix}.type", "rest"
        yield f"{prefix}.uri", str(lake.uri)
    else:
        yield f"{prefix}.type", "jdbc"
        yield f"{prefix}.jdbc.schema-version", "V1"
        yield from _jdbc(places, prefix)
    if lake.io is LakeIO.S3:
        yield f"{prefix}.io-impl", "org.apache.iceberg.aws.s3.S3FileIO"
        storage = settings.storage
        yield f"{prefix}.s3.path-style-access", str(storage.path_style).lower()
        for name, value in (
            ("client.region", storage.region),
            ("s3.endpoint", storage.endpoint),
            ("s3.access-key-id", places.secret(storage.access_key)),
            ("s3.secret-access-key", places.secret(storage.secret_key)),
        ):
            if value is not None:
                yield f"{prefix}.{name}", value
    for name, value in lake.options.items():
        yield f"{prefix}.{name}", value


def _jdbc(places: Places, prefix: str) -> Iterator[tuple[str, str]]:
    lake = places.settings.lake
    file = sqlite_file(str(lake.uri))
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Readers and two Spark processes work beside each other in this mode.
        yield f"{prefix}.uri", f"jdbc:sqlite:{file}?journal_mode=WAL&busy_timeout=15000"
        return
    from sqlalchemy.engine import make_url

    url = make_url(str(lake.uri))
    port = f":{url.port}" if url.port else ""
    place = f"jdbc:postgresql://{url.host}{port}/{url.database}?currentSchema={lake.schema}"
    yield f"{prefix}.uri", place
    if url.username:
        yield f"{prefix}.jdbc.user", url.username
    password = places.secret(lake.password) or url.password
    if password:
        yield f"{prefix}.jdbc.password", str(password)


def _shared(places: Places) -> Iterator[tuple[str, str]]:
    """How Spark itself reads and writes s3:// places."""
    storage = places.settings.storage
    if storage.kind is not StorageKind.S3:
        return
    prefix = "spark.hadoop.fs.s3a"
    yield f"{prefix}.path.style.access", str(storage.path_style).lower()
    for name, value in (
        ("endpoint", storage.endpoint),
        ("endpoint.region", storage.region),
        ("access.key", places.secret(storage.access_key)),
        ("secret.key", places.secret(storage.secret_key)),
    ):
        if value is not None:
            yield f"{prefix}.{name}", value


def spark_address(places: Places, location: str) -> str:
    """An address of the catalog as Spark's own readers and writers take it."""
    real = places.address(location)
    return "s3a://" + real.removeprefix("s3://") if real.startswith("s3://") else real
