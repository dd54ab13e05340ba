"""A Spark session for a few rows: no lake, no project, one partition, quick to start."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from goldsmith.engine import java
from goldsmith.engine.conf import MEANING
from goldsmith.engine.session import quieten

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOG = Path(__file__).with_name("log4j2.properties")
#: What makes tiny jobs quick; every session can have it.
QUICK = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    # To compile code for a handful of rows takes longer than to interpret it.
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
    """A session in this process, stopped at the end."""
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
