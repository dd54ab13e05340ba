"""File names and contents beyond ASCII, in a process that has no locale, as cron starts one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_SCRIPT = """
import sys
from pathlib import Path
from goldsmith.catalog.datasets import Source
from goldsmith.engine.session import spark_session
from goldsmith.engine.read.files import read_files
from goldsmith.storage.files import list_files
from goldsmith.runtime import Runtime

folder = Path(sys.argv[1])
runtime = Runtime.of({}, project=folder, environment=None, cwd=folder)
spark = spark_session.start(runtime.storage)
raw = Path(runtime.storage.address("s3://company/raw/"))
raw.mkdir(parents=True)
for name in ("é ü.csv", "日本.jsonl"):
    text = "größe\\nü\\n" if name.endswith("csv") else '{"größe": "ü"}\\n'
    (raw / name).write_text(text, "utf-8")
for name in ("é ü.csv", "日本.jsonl"):
    files = list_files(f"s3://company/raw/{name}", runtime.storage)
    source = Source(source_id="raw", s3_path="s3://company/raw/")
    rows = read_files(spark, source, files, runtime.storage, schema=None).rows.collect()
    assert [tuple(row) for row in rows] == [("ü", f"s3://company/raw/{name}")], rows
spark.stop()
runtime.close()
"""


def test_names_beyond_ascii_are_read_without_a_locale(tmp_path: Path) -> None:
    project = tmp_path / "größe"
    project.mkdir()
    (project / "goldsmith.toml").write_text(
        'name = "tests"\n[spark]\nmaster = "local[1]"\ndriver_memory = "512m"\n', encoding="utf-8"
    )
    env = {name: value for name, value in os.environ.items() if not name.startswith("LC_")}
    env |= {"LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(project)],
        env=env,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
