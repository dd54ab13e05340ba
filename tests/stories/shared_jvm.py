"""A JVM that stays while the processes that drive it are killed: hundreds of them, each in seconds.

A driver process is `goldsmith run`, and SIGKILL is SIGKILL. Its own JVM would end with it; this
one is told to end its Spark instead, with everything it holds in memory, and is warm for the next.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from goldsmith.setup import jars, java


@dataclass(frozen=True, kw_only=True)
class WarmSpark:
    """A running JVM without a Spark in it."""

    gateway: Any

    @property
    def environ(self) -> Mapping[str, str]:
        """What a process needs to drive this JVM and start none of its own."""
        java_side = self.gateway.java_parameters
        return {
            "PYSPARK_GATEWAY_PORT": str(java_side.port),
            "PYSPARK_GATEWAY_SECRET": java_side.auth_token,
        }

    def end_spark(self) -> None:
        """End the Spark that a killed process left, as the end of its JVM would."""
        companion = getattr(self.gateway.jvm, "org.apache.spark.SparkContext$")
        left = getattr(companion, "MODULE$").getActive()
        if left.isDefined():
            left.get().stop()


@contextmanager
def warm_spark() -> Iterator[WarmSpark]:
    from pyspark.java_gateway import launch_gateway

    path = os.pathsep.join(str(jar) for jar in jars.paths())
    submit = (
        f"--driver-class-path {path} --driver-memory 2g"
        " --driver-java-options '-XX:+UseSerialGC' pyspark-shell"
    )
    environ = {"JAVA_HOME": str(java.find(None).home), "PYSPARK_SUBMIT_ARGS": submit}
    with mock.patch.dict(os.environ, environ):
        gateway = launch_gateway()
    try:
        yield WarmSpark(gateway=gateway)
    finally:
        gateway.shutdown()
        gateway.proc.stdin.close()  # the JVM lives as long as its input
        gateway.proc.wait(30)
