"""One stage from files to one target, in one write mode: what the matrix of deaths is run on."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from stories import leftovers
from warehouses import model

GOLDSMITH = Path(sys.executable).with_name("goldsmith")
TABLE = "line_kept"
_FIRST_DAY = datetime(2026, 1, 1)
#: The key that every file speaks of again.
_SHARED = 1000
_BROKEN = '{"id": 7, "amou'

CATALOG = """
pipelines: [{pipeline_id: line}]
stages:
  - pipeline_id: line
    stage_order: 1
    source_id: line_raw
    target_id: line_kept
    write_mode: MODE
    keys: [id]
    watermark_column: at
    validation_set_id: line_rule
sources:
  - source_id: line_raw
    s3_path: s3://line/raw/
    file_format: jsonl
    declared_schema: "id BIGINT, amount BIGINT, at TIMESTAMP"
targets:
  - {target_id: line_kept, location: LOCATION, type: TYPE}
validation_rules:
  - {rule_set_id: line_rule, check_def: [{type: in_range, column: amount, min: 0}]}
"""


@dataclass(frozen=True, kw_only=True)
class LineTarget:
    """A kind of target, as a project's settings say it."""

    kind: str
    toml: str = ""
    #: The PostgreSQL behind it, where there is one.
    url: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    #: A client and a bucket, where rows are staged in S3.
    s3: Any = None
    bucket: str = ""

    @property
    def is_lake(self) -> bool:
        return self.kind == "lake"


@dataclass(frozen=True, kw_only=True)
class Line:
    """The project, its files, and what its target has to hold."""

    folder: Path
    mode: str
    storage: LineTarget
    environ: Mapping[str, str]
    files: dict[int, list[model.Row]] = field(default_factory=dict)

    @classmethod
    def make(cls, folder: Path, mode: str, storage: LineTarget, environ: Mapping[str, str]) -> Line:
        line = cls(folder=folder, mode=mode, storage=storage, environ=environ)
        line.goldsmith("init", str(folder))
        toml = folder / "goldsmith.toml"
        small = (
            '\n[spark]\nmaster = "local[1]"\n[spark.conf]\n"spark.sql.shuffle.partitions" = "1"\n'
        )
        toml.write_text(toml.read_text() + small + storage.toml)
        text = CATALOG.replace("MODE", mode)
        location = "s3://line/kept/" if storage.is_lake else f"line.{TABLE}"
        text = text.replace("LOCATION", location).replace(
            "TYPE", "s3" if storage.is_lake else storage.kind
        )
        (folder / "line.yaml").write_text(text)
        line.goldsmith("--project", str(folder), "apply", str(folder / "line.yaml"), "--yes")
        return line

    def goldsmith(
        self, *arguments: str, fault: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        with self._start(*arguments, fault=fault) as process:
            stdout, stderr = process.communicate()
        return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)

    def run(self, *, fault: str | None = None) -> subprocess.CompletedProcess[str]:
        return self.goldsmith("--project", str(self.folder), "run", "line", fault=fault)

    def start(self, *, fault: str | None = None) -> AbstractContextManager[subprocess.Popen[str]]:
        """Begin a run and do not wait for it."""
        return self._start("--project", str(self.folder), "run", "line", fault=fault)

    @contextmanager
    def _start(self, *arguments: str, fault: str | None) -> Iterator[subprocess.Popen[str]]:
        extra = {"GOLDSMITH_FAULT": fault} if fault else {}
        environ = {**os.environ, **self.environ, **self.storage.environ, **extra}
        pipe = subprocess.PIPE
        command = [str(GOLDSMITH), *arguments]
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environ) as process:
            try:
                yield process
            finally:
                # A test that failed must not wait for a process that sleeps.
                process.kill()

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask the journal, or tell it something, by plain SQL."""
        file = self.folder / ".goldsmith" / "catalog.db"
        with closing(sqlite3.connect(file, timeout=30)) as connection:
            found = connection.execute(sql).fetchall()
            connection.commit()
        return found

    def bring(self, number: int, *, amount: int = 10, broken: bool = False) -> None:
        """Put a file there, or another one in its place."""
        day = _FIRST_DAY + timedelta(days=number)
        # Every second time the shared key says what it said before.
        rows: list[model.Row] = [((number,), day, amount), ((_SHARED,), day, number // 2)]
        self.files[number] = rows
        lines = [
            json.dumps({"id": key[0], "amount": value, "at": str(at)}) for key, at, value in rows
        ]
        file = self.folder / ".goldsmith" / "s3" / "line" / "raw" / f"{number:03}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join([*lines, *([_BROKEN] if broken else [])]) + "\n")

    def expected(self) -> Counter[tuple[Any, ...]]:
        """What the target holds once every file was published."""
        everything = [row for rows in self.files.values() for row in rows]
        if self.mode == "merge":
            everything = list(model.merged({}, everything).values())
        if self.mode == "scd2":
            return Counter(model.as_rows(model.with_versions({}, everything)))
        return Counter((*key, value) for key, _at, value in everything)

    def rows(self) -> Counter[tuple[Any, ...]]:
        """What a reader sees right now, by nothing of ours."""
        columns = ["id", "amount"]
        if self.mode == "scd2":
            columns += ["_valid_from", "_valid_to", "_is_current"]
        return Counter(tuple(_plain(v) for v in row) for row in self._read(columns))

    def _read(self, columns: list[str]) -> list[tuple[Any, ...]]:
        chosen = ", ".join(columns)
        if self.storage.is_lake:
            return _of_lake(self.folder / ".goldsmith", columns)
        if self.storage.url:
            import psycopg

            with psycopg.connect(self.storage.url) as connection:
                if connection.execute(f"SELECT to_regclass('line.{TABLE}')").fetchone() == (None,):
                    return []
                return connection.execute(f"SELECT {chosen} FROM line.{TABLE}").fetchall()
        import duckdb

        file = self.folder / ".goldsmith" / "warehouse.duckdb"
        if not file.exists():
            return []
        with closing(duckdb.connect(str(file), read_only=True)) as connection:
            there = "SELECT 1 FROM information_schema.tables WHERE table_name = ?"
            if not connection.execute(there, [TABLE]).fetchall():
                return []
            return connection.execute(f"SELECT {chosen} FROM line.{TABLE}").fetchall()

    def quarantined_rows(self) -> list[int]:
        """How many records each published stage run kept in the quarantine."""
        query = "SELECT stage_run_id FROM stage_runs WHERE status = 'succeeded'"
        published = {row[0] for row in self.ask(query)}
        home = self.folder / ".goldsmith"
        kept = leftovers.lake_of(home).load_table(("quarantine", TABLE)).scan().to_arrow()
        by_run = Counter(kept["_stage_run_id"].to_pylist())
        return [number for stage_run, number in by_run.items() if stage_run in published]

    def leftovers(self) -> dict[str, list[Any]]:
        staged, tables = [], []
        if self.storage.s3 is not None:
            found = self.storage.s3.list_objects_v2(Bucket=self.storage.bucket, Prefix="staging/")
            staged = [item["Key"] for item in found.get("Contents", ())]
        if self.storage.url:
            import psycopg

            with psycopg.connect(self.storage.url) as connection:
                query = "SELECT tablename FROM pg_tables WHERE tablename LIKE 'load\\_%'"
                tables = [row[0] for row in connection.execute(query) if row[0] != "load_errors"]
        return leftovers.of_project(
            self.folder, ("staged in S3", staged), ("staging tables", tables)
        )


def _of_lake(home: Path, columns: list[str]) -> list[tuple[Any, ...]]:
    if not (home / "lake.db").exists():
        return []
    lake = leftovers.lake_of(home)
    for space in lake.list_namespaces():
        if space != ("quarantine",) and (*space, TABLE) in lake.list_tables(space):
            found = lake.load_table((*space, TABLE)).scan(selected_fields=tuple(columns))
            rows = found.to_arrow().to_pylist()
            return [tuple(row[column] for column in columns) for row in rows]
    return []


def _plain(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value
