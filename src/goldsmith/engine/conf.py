"""What Spark is told: its own settings, made of ours."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from goldsmith.engine import jars
from goldsmith.engine.addresses import lake_address
from goldsmith.planning.places import LAKE, Places
from goldsmith.settings.sections import LakeCatalog, LakeIO, StorageKind, sqlite_file

#: The master of a process that `spark-submit` started: whoever did has said it all.
SUBMITTED = "spark-submit"

#: What every session has, wherever it runs: one time zone, one arithmetic.
MEANING: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
}
#: Spark looks at each file again that our ledger names. In a folder that takes no time; S3 is
#: asked twice a file, so there a job does it for many files, in not too many tasks.
_LISTING = {
    StorageKind.FOLDER: {"spark.sql.sources.parallelPartitionDiscovery.threshold": "100000"},
    StorageKind.S3: {"spark.sql.sources.parallelPartitionDiscovery.parallelism": "64"},
}
_S3A = "fs.s3a"
_LOG = Path(__file__).with_name("log4j2.properties")
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_DRIVER_PATH, _JARS = "spark.driver.extraClassPath", "spark.jars"


def of_process(places: Places) -> dict[str, str]:
    """Every setting of a Spark whose driver is this process."""
    spark = places.settings.spark
    said = {
        **MEANING,
        **_LISTING[places.settings.storage.kind],
        "spark.sql.extensions": (
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        ),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.showConsoleProgress": "false",
        # Else every step of a DataFrame is told by which line of ours it was made: half its time.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        # A stop has to reach tasks that hang.
        "spark.task.reaper.enabled": "true",
        "spark.task.reaper.killTimeout": "5s",
        "spark.task.reaper.pollingInterval": "1s",
        # Nor is a Python worker asked twice: Spark takes up to two seconds to look after it at all.
        "spark.python.task.killTimeout": "0s",
        **dict(_lake(places)),
        **{f"spark.hadoop.{name}": value for name, value in _storage(places)},
    }
    if spark.master == SUBMITTED:
        return {**said, **spark.conf}
    said |= {"spark.driver.memory": spark.driver_memory, "spark.ui.enabled": "false"}
    if spark.master.startswith("local"):
        said |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 2)),
            # A task without memory fails; it does not end the process of all stages.
            "spark.executor.killOnFatalError.depth": "0",
        }
    return {**said, **spark.conf, **_of_java(spark.conf, is_local=spark.master.startswith("local"))}


def of_session(places: Places) -> dict[str, str]:
    """Every setting of a session on a Spark Connect server, which has a driver of its own."""
    return {
        **MEANING,
        **_LISTING[places.settings.storage.kind],
        **dict(_lake(places)),
        # A session's settings reach Hadoop by Hadoop's names.
        **dict(_storage(places)),
        **places.settings.spark.conf,
    }


def _of_java(said: Mapping[str, str], *, is_local: bool) -> dict[str, str]:
    """What the JVMs are started with: our jars and our log, beside what somebody said."""
    ours = [str(jar) for jar in jars.paths()]
    options = f"{said.get(_JAVA_OPTIONS, '')} -Dlog4j2.configurationFile={_LOG.as_uri()}"
    found = {
        _JAVA_OPTIONS: options.strip(),
        _DRIVER_PATH: os.pathsep.join([*ours, *_said(said, _DRIVER_PATH)]),
    }
    if not is_local:
        # Executors may be on machines that have none of our files: the driver hands them out.
        found[_JARS] = ",".join([*ours, *_said(said, _JARS)])
    return found


def _said(said: Mapping[str, str], name: str) -> list[str]:
    return [said[name]] if said.get(name) else []


def _lake(places: Places) -> Iterator[tuple[str, str]]:
    """The lake's catalog of Iceberg tables."""
    lake = places.settings.lake
    prefix = f"spark.sql.catalog.{LAKE}"
    yield prefix, "org.apache.iceberg.spark.SparkCatalog"
    # With the cache on, one session still saw the old rows after another had published.
    yield f"{prefix}.cache-enabled", "false"
    yield f"{prefix}.warehouse", lake_address(places, lake.warehouse or "")
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
        yield from _lake_files(places, prefix)
    for name, value in places.lake_options().items():
        yield f"{prefix}.{name}", value


def _lake_files(places: Places, prefix: str) -> Iterator[tuple[str, str]]:
    """Iceberg's own way to S3."""
    storage = places.settings.storage
    yield f"{prefix}.io-impl", "org.apache.iceberg.aws.s3.S3FileIO"
    yield f"{prefix}.s3.path-style-access", str(storage.path_style).lower()
    for name, value in (
        ("client.region", storage.region),
        ("s3.endpoint", storage.endpoint),
        ("s3.access-key-id", places.secret(storage.access_key)),
        ("s3.secret-access-key", places.secret(storage.secret_key)),
    ):
        if value is not None:
            yield f"{prefix}.{name}", value


def _jdbc(places: Places, prefix: str) -> Iterator[tuple[str, str]]:
    lake = places.settings.lake
    file = sqlite_file(str(lake.uri))
    if file is not None:
        # Readers and two Spark processes work beside each other in this mode.
        yield f"{prefix}.uri", f"jdbc:sqlite:{file}?journal_mode=WAL&busy_timeout=15000"
        return
    url = places.lake_url()
    port = f":{url.port}" if url.port else ""
    place = f"jdbc:postgresql://{url.host}{port}/{url.database}?currentSchema={lake.schema}"
    yield f"{prefix}.uri", place
    if url.username:
        yield f"{prefix}.jdbc.user", url.username
    if url.password:
        yield f"{prefix}.jdbc.password", str(url.password)


def _storage(places: Places) -> Iterator[tuple[str, str]]:
    """How Spark itself reads and writes s3:// places, by Hadoop's names."""
    storage = places.settings.storage
    if storage.kind is not StorageKind.S3:
        return
    yield f"{_S3A}.path.style.access", str(storage.path_style).lower()
    for name, value in (
        ("endpoint", storage.endpoint),
        ("endpoint.region", storage.region),
        ("access.key", places.secret(storage.access_key)),
        ("secret.key", places.secret(storage.secret_key)),
    ):
        if value is not None:
            yield f"{_S3A}.{name}", value
