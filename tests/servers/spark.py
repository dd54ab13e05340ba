"""Spark as others run it: a Spark Connect server, and a standalone cluster of one worker."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyspark

from goldsmith.setup import jars, java

_BIN = Path(pyspark.__file__).parent / "bin"
_STARTS_WITHIN = 120.0
_SMALL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@dataclass(frozen=True, kw_only=True)
class ConnectServer:
    """A Spark Connect server: its address, and its JVM."""

    remote: str
    pid: int


@contextlib.contextmanager
def connect_server() -> Iterator[ConnectServer]:
    """A server that has Iceberg's jars and extensions, and knows nothing of lakes or storage."""
    port = _free_port()
    conf = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.extraClassPath": os.pathsep.join(str(jar) for jar in jars.paths()),
        "spark.driver.extraJavaOptions": _SMALL,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.extensions": (
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        ),
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    options = [option for name, value in conf.items() for option in ("--conf", f"{name}={value}")]
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    command = [
        "spark-submit",
        "--master",
        "local[2]",
        *options,
        "--class",
        server,
        "spark-internal",
    ]
    with _running(command) as (pid, log):
        _wait(log, "Spark Connect server started at")
        yield ConnectServer(remote=f"sc://127.0.0.1:{port}", pid=pid)


@contextlib.contextmanager
def standalone_cluster() -> Iterator[str]:
    """A master and a worker with two cores, each a process of its own."""
    port = _free_port()
    master = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    first = ["spark-class", f"{deploy}.master.Master", "-h", "127.0.0.1", "-p", str(port)]
    second = ["spark-class", f"{deploy}.worker.Worker", "-h", "127.0.0.1", "-c", "2", "-m", "2g"]
    with _running([*first, "--webui-port", "0"]) as (_, log):
        _wait(log, "I have been elected leader")
        with _running([*second, "--webui-port", "0", master]) as (_, worker_log):
            _wait(worker_log, "Successfully registered with master")
            yield master


@contextlib.contextmanager
def _running(command: list[str]) -> Iterator[tuple[int, Path]]:
    """A process of Spark's, in a folder of its own; yields its id and its log."""
    folder = Path(tempfile.mkdtemp(prefix="goldsmith-spark-"))
    log = folder / "log.txt"
    environ = {
        **os.environ,
        "JAVA_HOME": str(java.find().home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "true",
        "SPARK_DAEMON_MEMORY": "512m",
        "SPARK_WORKER_DIR": str(folder / "work"),
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(_BIN / command[0]), *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environ,
            cwd=folder,
            start_new_session=True,
        )
    try:
        yield process.pid, log
    finally:
        # The script may have left a child: the whole group was started by us.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait(log: Path, text: str) -> None:
    end = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < end:
        log_text = log.read_text(errors="replace")
        if text in log_text:
            return
        if re.search(r"^(Exception in thread|Error:)", log_text, re.MULTILINE):
            break
        time.sleep(0.1)
    raise RuntimeError(f"Spark does not start:\n{log.read_text(errors='replace')}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
