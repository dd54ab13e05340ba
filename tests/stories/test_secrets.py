"""Secrets reach Spark, and nobody who lists the processes of the machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SECRET = 'hunter2-with-"quotes"-and-\\'
LAKE_TOKEN = "token-of-the-lake"

#: Starts the session a worker would start, and shows the command line of every child process.
_SHOW_COMMAND_LINES = """
import os, sys
from pathlib import Path
from goldsmith.engine.session import spark_session
from goldsmith.runtime import Runtime

runtime = Runtime.of(os.environ, project=Path(sys.argv[1]), environment=None, cwd=Path(sys.argv[1]))
spark = spark_session.start(runtime.storage)
configured = spark.sparkContext._jsc.hadoopConfiguration()
print("S3A", configured.get("fs.s3a.secret.key"))
own = spark_session.new_session(spark)
print("LAKE", own.conf.get("spark.sql.catalog.lake.s3.secret-access-key"))
print("TOKEN", own.conf.get("spark.sql.catalog.lake.token"))
print("JVM", spark.sparkContext._gateway.proc.pid)
for process in Path("/proc").glob("[0-9]*/cmdline"):
    try:
        print("PROCESS", process.parent.name, process.read_bytes().replace(b"\\0", b" "))
    except OSError:
        continue
spark.stop()
"""

_SETTINGS = """
[storage]
kind = "s3"
endpoint = "http://127.0.0.1:1"
region = "us-east-1"
access_key = "env:OUR_ACCESS_KEY"
secret_key = "env:OUR_SECRET_KEY"

[lake]
warehouse = "s3://lake/"

[lake.options]
token = "env:OUR_TOKEN"
"""


def test_no_secret_stands_on_the_command_line_of_a_process(tmp_path: Path) -> None:
    (tmp_path / "goldsmith.toml").write_text(_SETTINGS, encoding="utf-8")
    secrets = {"OUR_ACCESS_KEY": "someone", "OUR_SECRET_KEY": SECRET, "OUR_TOKEN": LAKE_TOKEN}
    shown = subprocess.run(
        [sys.executable, "-c", _SHOW_COMMAND_LINES, str(tmp_path)],
        env={**os.environ, **secrets},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    ).stdout
    lines = dict(line.split(" ", 1) for line in shown.splitlines() if " " in line)
    processes = [line for line in shown.splitlines() if line.startswith("PROCESS")]
    of_jvm = [line for line in processes if line.split(" ")[1] == lines["JVM"]]

    assert (lines["S3A"], lines["LAKE"], lines["TOKEN"]) == (SECRET, SECRET, LAKE_TOKEN)
    assert "SparkSubmit" in of_jvm[0]
    assert not [line for line in processes if "hunter2" in line or LAKE_TOKEN in line]
