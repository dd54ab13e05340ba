"""Start a Spark session from settings: local, on a cluster or on a Spark Connect server."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldsmith.credentials import looks_like_secret_name
from goldsmith.engine.session import connect, spark_log, spark_settings
from goldsmith.errors import GoldsmithError
from goldsmith.settings.sections import LakeCatalog
from goldsmith.setup import fetching, java
from goldsmith.storage import lake_catalog
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Variables that set the locale; the first that is set wins.
_LOCALE = ("LC_ALL", "LC_CTYPE", "LANG")
#: The error code of a write to a full disk.
DISK_FULL = "DiskFull"


@dataclass(eq=False, kw_only=True)
class SparkDidNotStart(GoldsmithError):
    """Spark's JVM ended before it was ready."""

    exit_code = 1

    reason: str
    log: str

    def __str__(self) -> str:
        return f"Spark did not start: {self.reason}"

    @property
    def hint(self) -> str:
        return (
            "The settings of [spark] decide how it is started (driver_memory, java_home, conf). "
            f"All that Java wrote is in {self.log}."
        )


#: Set while the shared session of this process starts, which takes from 5 s to a minute.
starting = threading.Event()


def start(storage: Storage) -> SparkSession:
    """The shared session of this process; `own_session` creates one for each stage from it."""
    starting.set()
    try:
        quieten()
        lake_catalog.prepare(storage)
        if storage.settings.spark.remote is not None:
            return connect.start(storage)
        return _classic(storage)
    finally:
        starting.clear()


def quieten() -> None:
    """Disable pyspark's own logging of SQL errors: Goldsmith reports each error once."""
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).disabled = True


@contextmanager
def own_session(spark: SparkSession) -> Iterator[SparkSession]:
    """A session for one stage, closed on exit."""
    own = new_session(spark)
    try:
        yield own
    finally:
        if is_connect(own):
            own.stop()  # ends this session only; the server would keep it for an hour


def new_session(spark: SparkSession) -> SparkSession:
    """A session for one stage, with its own views and settings."""
    if is_connect(spark):
        return connect.another(spark)
    own = spark.newSession()
    for name, value in spark_settings.MEANING.items():
        own.conf.set(name, value)
    return own


def close_lost_files(spark: SparkSession) -> None:
    """Run Java's garbage collector to close files that failed writers left open.

    Open files take disk space. Measured: on a full disk every further write failed, though all
    files had been removed.
    """
    if not is_connect(spark):
        jvm: Any = spark.sparkContext._jvm
        jvm.java.lang.System.gc()


def stop(spark: SparkSession) -> None:
    """Stop the shared session; its JVM may already be dead."""
    from py4j.protocol import Py4JError

    with contextlib.suppress(Py4JError, OSError):
        spark.stop()
    if not is_connect(spark):
        _forget_the_dead()


def _forget_the_dead() -> None:
    """Reset pyspark's reference to a dead JVM; otherwise pyspark starts no new one."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    gateway: Any = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if process is None or process.poll() is None:
        return
    with SparkContext._lock:
        SparkContext._active_spark_context = None
        SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = None


def is_connect(spark: Any) -> bool:
    return type(spark).__module__.startswith("pyspark.sql.connect")


def _classic(storage: Storage) -> SparkSession:
    spark = storage.settings.spark
    # Python workers use this interpreter: another one on PATH may have other packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    is_submitted = spark.master == spark_settings.SUBMITTED
    if not is_submitted:
        os.environ["JAVA_HOME"] = str(java.find(spark.java_home).home)
    if spark.master.startswith("local"):
        # No other host connects to a local Spark.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    if not is_submitted:
        fetching.ready(lambda line: print(line, file=sys.stderr, flush=True))
    settings = {"spark.app.name": "goldsmith", **spark_settings.of_process(storage)}
    if not is_submitted:
        settings["spark.master"] = spark.master
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    with _handing_on({**_keys_for_glue(storage), **_locale()}):
        _launch_jvm(without_secrets(settings, storage), spark_log.path(storage))
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _launch_jvm(settings: Mapping[str, str], log: Path) -> None:
    """Start the JVM before the session is created; its output goes to a log file.

    A session that starts the JVM puts all of its settings on the command line, which every user
    of the machine can read. A session that finds a running JVM sends its settings over the
    authenticated socket instead.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    at_launch = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    with spark_log.opened(log) as written:
        start = written.tell()
        try:
            gateway = launch_gateway(  # type: ignore[no-untyped-call]
                at_launch, {"stdout": written, "stderr": written}
            )
        except PySparkRuntimeError as error:
            raise SparkDidNotStart(reason=spark_log.reason(log, start), log=str(log)) from error
    SparkContext._ensure_initialized(gateway=gateway)


def without_secrets(settings: Mapping[str, str], storage: Storage) -> dict[str, str]:
    """The settings that other users of the machine may see."""
    return {
        name: value
        for name, value in settings.items()
        if not looks_like_secret_name(name) and storage.secrets.redact(value) == value
    }


def _locale() -> dict[str, str]:
    """A UTF-8 locale for the JVM if the process has none, as under cron: file names are bytes."""
    locale = next((os.environ[name] for name in _LOCALE if os.environ.get(name)), "C")
    is_utf8 = locale.lower().replace("-", "").partition("@")[0].endswith("utf8")
    return {} if is_utf8 else {"LC_ALL": "C.UTF-8"}


def _keys_for_glue(storage: Storage) -> dict[str, str]:
    """The storage's keys for Iceberg's Glue client, which only uses AWS's credential chain."""
    storage_settings = storage.settings.storage
    keys = {
        "AWS_ACCESS_KEY_ID": storage.secret(storage_settings.access_key),
        "AWS_SECRET_ACCESS_KEY": storage.secret(storage_settings.secret_key),
    }
    is_glue = storage.settings.lake.catalog is LakeCatalog.GLUE
    return {name: key for name, key in keys.items() if is_glue and key is not None}


@contextmanager
def _handing_on(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables only while the JVM is started."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
