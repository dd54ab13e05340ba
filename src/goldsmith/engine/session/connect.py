"""Sessions on a Spark Connect server, which other clients may share."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from goldsmith.engine.session import spark_settings as conf
from goldsmith.errors import GoldsmithError
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PORT = 15002
_ANSWERS_WITHIN = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Recipe:
    """The address and settings of a session, to create another; the address may hold a token."""

    address: str = field(repr=False)
    conf: Mapping[str, str] = field(repr=False)


_RECIPES: WeakKeyDictionary[SparkSession, _Recipe] = WeakKeyDictionary()


@dataclass(eq=False, kw_only=True)
class SparkUnreachable(GoldsmithError):
    """The Spark Connect server of spark.remote does not answer."""

    transient = True
    exit_code = 1

    remote: str
    cause: str

    def __str__(self) -> str:
        return f"No Spark Connect server answers at {self.remote}: {self.cause}."

    @property
    def hint(self) -> str:
        return "See the setting spark.remote; `goldsmith config check` tries it."


@dataclass(eq=False, kw_only=True)
class SparkSettingRefused(GoldsmithError):
    """The Spark Connect server refuses a setting of the session."""

    setting: str
    cause: str

    def __str__(self) -> str:
        return f"The Spark Connect server refuses the setting '{self.setting}': {self.cause}"

    @property
    def hint(self) -> str:
        return "Take it out of [spark.conf] and start the server with it."


def start(storage: Storage) -> SparkSession:
    """A session on the server in the setting spark.remote."""
    remote = str(storage.settings.spark.remote)
    _reach(remote)
    close_only_when_stopped()
    from pyspark.sql import SparkSession

    recipe = _Recipe(
        address=address(remote, storage.secret(storage.settings.spark.token)),
        conf=conf.of_session(storage),
    )
    builder = SparkSession.builder.remote(recipe.address)
    # A thread's first session becomes its active session, where Spark looks for checkpointed rows.
    # Created in another thread, this session leaves the stage's own session active.
    with ThreadPoolExecutor(1) as executor:
        session: SparkSession = executor.submit(builder.create).result()
    for name, value in recipe.conf.items():
        _set(session, name, value)
    _RECIPES[session] = recipe
    return session


def close_only_when_stopped() -> None:
    """Let Python's garbage collector close no session.

    It may run inside a gRPC call. The close then waits for calls of other threads, which wait for a
    lock that this call holds: a stage waited for ever. `own_session` stops its sessions itself.
    """
    from pyspark.sql.connect.session import SparkSession

    SparkSession.__del__ = lambda session: None  # type: ignore[method-assign]


def address(remote: str, token: str | None) -> str:
    """The server's address for Spark's client, including the token."""
    if token is None:
        return remote
    separator = ";" if "/;" in remote else "/;"
    return f"{remote.rstrip('/;')}{separator}token={token}"


def _reach(remote: str) -> None:
    """Raise if nothing listens there: Spark's client would retry for ten minutes."""
    split = urlsplit(remote)
    try:
        host_port = (split.hostname or "", split.port or _PORT)
        socket.create_connection(host_port, timeout=_ANSWERS_WITHIN).close()
    except (OSError, ValueError) as error:
        raise SparkUnreachable(remote=remote, cause=str(error)) from error


def _set(session: SparkSession, name: str, value: str) -> None:
    from pyspark.errors import AnalysisException

    try:
        session.conf.set(name, value)
    except AnalysisException as error:
        cause = str(error).partition("\n")[0]
        raise SparkSettingRefused(setting=name, cause=cause) from error


def another(session: SparkSession) -> SparkSession:
    """Another session on the same server, with the same settings."""
    # `cloneSession` is faster, but does not make the clone the thread's active session.
    from pyspark.sql import SparkSession

    recipe = _RECIPES[session]
    builder = SparkSession.builder.remote(recipe.address).config(map=dict(recipe.conf))
    own: SparkSession = builder.create()
    return own
