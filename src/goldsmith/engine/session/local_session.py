"""A fast-starting Spark session for a few rows: no lake, no project, one partition."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from goldsmith.engine.session.spark_session import quieten
from goldsmith.engine.session.spark_settings import MEANING
from goldsmith.setup import java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOG = Path(__file__).with_name("log4j2.properties")
#: Settings that make tiny jobs fast; any session may have them.
QUICK = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    # For a few rows, compiling code takes longer than interpreting it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
_CONF = {
    **MEANING,
    **QUICK,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.default.parallelism": "1",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": (
        f"-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dlog4j2.configurationFile={_LOG.as_uri()}"
    ),
}


@contextmanager
def session() -> Iterator[SparkSession]:
    """A local session, stopped on exit."""
    quieten()
    os.environ["JAVA_HOME"] = str(java.find(None).home)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("goldsmith checks try").master("local[2]")
    for name, value in _CONF.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    finally:
        spark.stop()
