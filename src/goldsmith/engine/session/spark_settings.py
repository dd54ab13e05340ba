"""Derive Spark's settings from Goldsmith's settings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from goldsmith.settings.sections import LakeCatalog, LakeIO, StorageKind, sqlite_file
from goldsmith.setup import jars
from goldsmith.storage.spark_addresses import lake_address
from goldsmith.storage.storage import LAKE, Storage

#: The master of a process that `spark-submit` started, which sets master, memory and jars.
SUBMITTED = "spark-submit"

#: Settings of every session: one time zone, one arithmetic.
MEANING: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # Files may have any encoding that Java knows; by default Spark accepts seven.
    "spark.sql.legacy.javaCharsets": "true",
}
#: Spark checks each file of the input selection again. That is fast in a folder. On S3 it takes
#: two requests a file, so a Spark job does it for many files, with a limited number of tasks.
_LISTING = {
    StorageKind.FOLDER: {"spark.sql.sources.parallelPartitionDiscovery.threshold": "100000"},
    StorageKind.S3: {"spark.sql.sources.parallelPartitionDiscovery.parallelism": "64"},
}
_S3A = "fs.s3a"
_LOG = Path(__file__).with_name("log4j2.properties")
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_DRIVER_PATH, _JARS = "spark.driver.extraClassPath", "spark.jars"


def of_process(storage: Storage) -> dict[str, str]:
    """Every setting of a Spark whose driver is this process."""
    spark = storage.settings.spark
    conf = {
        **MEANING,
        **_LISTING[storage.settings.storage.kind],
        "spark.sql.extensions": (
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        ),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.showConsoleProgress": "false",
        # Otherwise Spark records the Python line of every DataFrame call, which doubles its time.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        # A cancel has to end tasks that hang.
        "spark.task.reaper.enabled": "true",
        "spark.task.reaper.killTimeout": "5s",
        "spark.task.reaper.pollingInterval": "1s",
        # Kill Python workers at once: Spark needs up to two seconds to notice the cancel anyway.
        "spark.python.task.killTimeout": "0s",
        **dict(_lake(storage)),
        **{f"spark.hadoop.{name}": value for name, value in _storage(storage)},
    }
    if spark.master == SUBMITTED:
        return {**conf, **spark.conf}
    conf |= {"spark.driver.memory": spark.driver_memory, "spark.ui.enabled": "false"}
    # One driver runs stages of several pipelines; each pipeline has a pool of its own.
    conf["spark.scheduler.mode"] = "FAIR"
    if spark.master.startswith("local"):
        conf |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 2)),
            # A task that runs out of memory fails alone; the process of all stages lives on.
            "spark.executor.killOnFatalError.depth": "0",
        }
    return {**conf, **spark.conf, **_of_java(spark.conf, is_local=spark.master.startswith("local"))}


def of_session(storage: Storage) -> dict[str, str]:
    """Every setting of a session on a Spark Connect server, which has a driver of its own."""
    return {
        **MEANING,
        **_LISTING[storage.settings.storage.kind],
        **dict(_lake(storage)),
        # Session settings reach Hadoop without the prefix `spark.hadoop.`.
        **dict(_storage(storage)),
        **storage.settings.spark.conf,
    }


def _of_java(conf: Mapping[str, str], *, is_local: bool) -> dict[str, str]:
    """JVM options and class path: our jars and log settings added to those of [spark.conf]."""
    ours = [str(jar) for jar in jars.paths()]
    options = f"{conf.get(_JAVA_OPTIONS, '')} -Dlog4j2.configurationFile={_LOG.as_uri()}"
    found = {
        _JAVA_OPTIONS: options.strip(),
        _DRIVER_PATH: os.pathsep.join([*ours, *_setting(conf, _DRIVER_PATH)]),
    }
    if not is_local:
        # Executors on other machines get the jars from the driver.
        found[_JARS] = ",".join([*ours, *_setting(conf, _JARS)])
    return found


def _setting(conf: Mapping[str, str], name: str) -> list[str]:
    return [conf[name]] if conf.get(name) else []


def _lake(storage: Storage) -> Iterator[tuple[str, str]]:
    """Settings of the lake's Iceberg catalog."""
    lake = storage.settings.lake
    prefix = f"spark.sql.catalog.{LAKE}"
    yield prefix, "org.apache.iceberg.spark.SparkCatalog"
    # With the cache on, one session still saw the old rows after another had published.
    yield f"{prefix}.cache-enabled", "false"
    yield f"{prefix}.warehouse", lake_address(storage, lake.warehouse or "")
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
        yield from _jdbc(storage, prefix)
    if lake.io is LakeIO.S3:
        yield from _lake_files(storage, prefix)
    for name, value in storage.lake_options().items():
        yield f"{prefix}.{name}", value


def _lake_files(storage: Storage, prefix: str) -> Iterator[tuple[str, str]]:
    """Settings of Iceberg's S3FileIO."""
    storage_settings = storage.settings.storage
    yield f"{prefix}.io-impl", "org.apache.iceberg.aws.s3.S3FileIO"
    yield f"{prefix}.s3.path-style-access", str(storage_settings.path_style).lower()
    for name, value in (
        ("client.region", storage_settings.region),
        ("s3.endpoint", storage_settings.endpoint),
        ("s3.access-key-id", storage.secret(storage_settings.access_key)),
        ("s3.secret-access-key", storage.secret(storage_settings.secret_key)),
    ):
        if value is not None:
            yield f"{prefix}.{name}", value


def _jdbc(storage: Storage, prefix: str) -> Iterator[tuple[str, str]]:
    lake = storage.settings.lake
    file = sqlite_file(str(lake.uri))
    if file is not None:
        # WAL lets readers and two Spark processes work concurrently.
        yield f"{prefix}.uri", f"jdbc:sqlite:{file}?journal_mode=WAL&busy_timeout=15000"
        return
    url = storage.lake_url()
    port = f":{url.port}" if url.port else ""
    uri = f"jdbc:postgresql://{url.host}{port}/{url.database}?currentSchema={lake.schema}"
    yield f"{prefix}.uri", uri
    if url.username:
        yield f"{prefix}.jdbc.user", url.username
    if url.password:
        yield f"{prefix}.jdbc.password", str(url.password)


def _storage(storage: Storage) -> Iterator[tuple[str, str]]:
    """Hadoop settings with which Spark reads and writes s3:// locations."""
    storage_settings = storage.settings.storage
    if storage_settings.kind is not StorageKind.S3:
        return
    yield f"{_S3A}.path.style.access", str(storage_settings.path_style).lower()
    for name, value in (
        ("endpoint", storage_settings.endpoint),
        ("endpoint.region", storage_settings.region),
        ("access.key", storage.secret(storage_settings.access_key)),
        ("secret.key", storage.secret(storage_settings.secret_key)),
    ):
        if value is not None:
            yield f"{_S3A}.{name}", value
