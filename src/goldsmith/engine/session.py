"""A Spark session from settings: a laptop, a cluster or a Spark Connect server, alike."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from goldsmith.engine import conf, connect, java, lake_list
from goldsmith.planning.places import Places
from goldsmith.settings.sections import LakeCatalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The code of a write for which there was no room.
DISK_FULL = "DiskFull"


def start(places: Places) -> SparkSession:
    """The session all stages of this process share; each stage gets a new one from it."""
    quieten()
    lake_list.prepare(places)
    if places.settings.spark.remote is not None:
        return connect.start(places)
    return _classic(places)


def quieten() -> None:
    """pyspark writes every SQL error to standard error by itself; we report it once."""
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).disabled = True


@contextmanager
def own_session(spark: SparkSession) -> Iterator[SparkSession]:
    """A session of a stage's own, put away at the end."""
    own = new_session(spark)
    try:
        yield own
    finally:
        if is_connect(own):
            own.stop()  # of this session only; the server would keep it for an hour


def new_session(spark: SparkSession) -> SparkSession:
    """A session of a stage's own: views and settings of one stage are not another's."""
    if is_connect(spark):
        return connect.another(spark)
    own = spark.newSession()
    for name, value in conf.MEANING.items():
        own.conf.set(name, value)
    return own


def close_lost_files(spark: SparkSession) -> None:
    """Close what writers left open that failed: until Java finds them they take room on the disk.

    Measured: on a full disk every further write failed, though all files had been removed.
    """
    if not is_connect(spark):
        jvm: Any = spark.sparkContext._jvm
        jvm.java.lang.System.gc()


def stop(spark: SparkSession) -> None:
    """End the session all stages share; its JVM may be gone already."""
    from py4j.protocol import Py4JError

    with contextlib.suppress(Py4JError, OSError):
        spark.stop()
    if not is_connect(spark):
        _forget_the_dead()


def _forget_the_dead() -> None:
    """pyspark holds on to a JVM that has died, and would start no other."""
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


def _classic(places: Places) -> SparkSession:
    spark = places.settings.spark
    # Workers must be the Python we are: another one on PATH may have other packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    is_submitted = spark.master == conf.SUBMITTED
    if not is_submitted:
        os.environ["JAVA_HOME"] = str(java.find(spark.java_home).home)
    if spark.master.startswith("local"):
        # Nobody else talks to a Spark inside this process.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("goldsmith")
    if not is_submitted:
        builder = builder.master(spark.master)
    for name, value in conf.of_process(places).items():
        builder = builder.config(name, value)
    with _handing_on(_keys_for_glue(places)):
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _keys_for_glue(places: Places) -> dict[str, str]:
    """The storage's keys for Iceberg's client of Glue, which takes none but by AWS's own chain."""
    storage = places.settings.storage
    keys = {
        "AWS_ACCESS_KEY_ID": places.secret(storage.access_key),
        "AWS_SECRET_ACCESS_KEY": places.secret(storage.secret_key),
    }
    is_glue = places.settings.lake.catalog is LakeCatalog.GLUE
    return {name: key for name, key in keys.items() if is_glue and key is not None}


@contextmanager
def _handing_on(variables: Mapping[str, str]) -> Iterator[None]:
    """Variables for the JVM that is started meanwhile, and for nobody else."""
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
