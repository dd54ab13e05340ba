"""Many short pipelines on many workers: a project, its processes, and what its rows must say."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldsmith.catalog.catalog import Catalog
from goldsmith.journal import requests
from goldsmith.journal.tables import Request
from goldsmith.runtime import Runtime
from plain_sql import PlainSql
from stories.service_processes import PATIENCE_SECONDS, until
from stories.shop import GOLDSMITH

#: A worker that opens Spark would wait for a JVM: these pipelines find nothing new.
_STAGE = "  - {{pipeline_id: p{n}, stage_order: 1, source_id: raw, target_id: t{n}}}\n"


def catalog_of(pipelines: int) -> str:
    """Rows of pipelines that read one empty folder and write a target of their own each."""
    numbers = range(pipelines)
    return (
        "pipelines:\n"
        + "".join(f"  - {{pipeline_id: p{n}}}\n" for n in numbers)
        + "stages:\n"
        + "".join(_STAGE.format(n=n) for n in numbers)
        + "sources:\n  - {source_id: raw, s3_path: s3://shop/raw/none/, file_format: jsonl}\n"
        + "targets:\n"
        + "".join(
            f"  - {{target_id: t{n}, location: s3://shop/bronze/t{n}/, type: s3}}\n"
            for n in numbers
        )
    )


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """A project and the processes that run it."""

    folder: Path
    url: str

    @classmethod
    def make(cls, folder: Path, url: str, *, rows: str) -> Fleet:
        fleet = cls(folder=folder, url=url)
        home = folder / ".goldsmith"
        fleet.goldsmith("init", str(folder))
        (home / "s3/shop/raw/none").mkdir(parents=True)
        file = folder / "goldsmith.toml"
        lake = f'[lake]\nuri = "sqlite:///{home}/lake.db"\n'
        file.write_text(f'{file.read_text()}\n[catalog]\nurl = "{url}"\n{lake}')
        (folder / "fleet.yaml").write_text(rows)
        Catalog.open(url, create=True).close()
        fleet.goldsmith("--project", str(folder), "apply", str(folder / "fleet.yaml"), "--yes")
        return fleet

    def goldsmith(self, *arguments: str) -> str:
        done = subprocess.run(
            [str(GOLDSMITH), *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"goldsmith {arguments}:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    @contextmanager
    def started(
        self, *arguments: str, fault: str | None = None
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A process of the project; it and its children are killed at the end."""
        environ = {**os.environ, **({"GOLDSMITH_FAULT": fault} if fault else {})}
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [str(GOLDSMITH), "--project", str(self.folder), *arguments],
                stdout=log,
                stderr=log,
                env=environ,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):  # the workers of a killed service live on
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def sql(self, query: str) -> list[Any]:
        with closing(PlainSql(self.url)) as plain:
            return plain.run(query)

    def workers(self) -> list[int]:
        """The process ids of the living workers."""
        found = self.sql("SELECT pid FROM workers WHERE kind = 'worker' AND status = 'active'")
        return [row[0] for row in found if Path(f"/proc/{row[0]}").exists()]

    def put(self, pipelines: Sequence[str], **options: Any) -> list[str]:
        """Put a request for each pipeline, as `goldsmith run` does."""
        runtime = Runtime.of({}, project=self.folder, environment=None, cwd=self.folder)
        try:
            return [
                requests.put(
                    runtime.journal,
                    Request(
                        request_id=f"request-{name}",
                        selection=(f"pipeline:{name}",),
                        pipelines=(name,),
                        asked_by="test",
                        **options,
                    ),
                ).request_id
                for name in pipelines
            ]
        finally:
            runtime.close()

    def left(self) -> int:
        """How many requests are not over."""
        query = "SELECT COUNT(*) FROM requests WHERE status IN ('waiting', 'running')"
        return int(self.sql(query)[0][0])

    def until_over(self) -> None:
        until(lambda: self.left() == 0)

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def check_each_ran_once(self, names: Sequence[str]) -> None:
        """Every request is done by exactly one run that counts, and nothing is left open."""
        status = dict(self.sql("SELECT request_id, status FROM requests"))
        assert Counter(status[name] for name in names) == {"done": len(names)}, self.log()[-4000:]
        ended = Counter(
            row[0]
            for row in self.sql("SELECT request_id FROM audit_log WHERE kind = 'RequestEnded'")
        )
        assert {name: ended[name] for name in names if ended[name] != 1} == {}
        ran = self.sql("SELECT request_id, status FROM runs WHERE request_id IS NOT NULL")
        good = Counter(name for name, how in ran if how in ("succeeded", "skipped"))
        assert {name: good[name] for name in names if good[name] != 1} == {}
        for what, query in {
            "run": "SELECT run_id FROM runs WHERE ended_at IS NULL",
            "stage run": "SELECT stage_run_id FROM stage_runs WHERE ended_at IS NULL",
            "wait": "SELECT subject FROM waits",
        }.items():
            assert (what, self.sql(query)) == (what, [])


def end(process: subprocess.Popen[bytes]) -> int:
    """Drain a process."""
    process.send_signal(signal.SIGTERM)
    return process.wait(PATIENCE_SECONDS)
