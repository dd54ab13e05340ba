"""Sessions on a Spark Connect server: Spark is somewhere else and belongs to others too."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from goldsmith.engine import conf
from goldsmith.errors import GoldsmithError
from goldsmith.planning.places import Places

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PORT = 15002
_ANSWERS_WITHIN = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Recipe:
    """How a session was made, to make one more; the address may hold a token."""

    address: str = field(repr=False)
    conf: Mapping[str, str] = field(repr=False)


_RECIPES: WeakKeyDictionary[SparkSession, _Recipe] = WeakKeyDictionary()


@dataclass(eq=False, kw_only=True)
class SparkUnreachable(GoldsmithError):
    """Nothing answers where the Spark Connect server should be."""

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
    """A Spark Connect server does not let a session have a setting."""

    setting: str
    cause: str

    def __str__(self) -> str:
        return f"The Spark Connect server refuses the setting '{self.setting}': {self.cause}"

    @property
    def hint(self) -> str:
        return "Take it out of [spark.conf] and start the server with it."


def start(places: Places) -> SparkSession:
    """A session on the server the settings name."""
    remote = str(places.settings.spark.remote)
    _reach(remote)
    from pyspark.sql import SparkSession

    recipe = _Recipe(
        address=address(remote, places.secret(places.settings.spark.token)),
        conf=conf.of_session(places),
    )
    builder = SparkSession.builder.remote(recipe.address)
    # A thread's first session stays its active one, and checkpointed rows are looked for in the
    # active one: made apart, this session leaves that place to the session of a stage.
    with ThreadPoolExecutor(1) as apart:
        session: SparkSession = apart.submit(builder.create).result()
    for name, value in recipe.conf.items():
        _set(session, name, value)
    _RECIPES[session] = recipe
    return session


def address(remote: str, token: str | None) -> str:
    """The server's address as Spark's client takes it, with the token in it."""
    if token is None:
        return remote
    separator = ";" if "/;" in remote else "/;"
    return f"{remote.rstrip('/;')}{separator}token={token}"


def _reach(remote: str) -> None:
    """Look whether anybody is there: Spark's client would try for ten minutes."""
    split = urlsplit(remote)
    try:
        place = (split.hostname or "", split.port or _PORT)
        socket.create_connection(place, timeout=_ANSWERS_WITHIN).close()
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
    """One more session on the same server, with the same settings."""
    # `cloneSession` would be quicker, but a clone is not made the thread's active session.
    from pyspark.sql import SparkSession

    recipe = _RECIPES[session]
    builder = SparkSession.builder.remote(recipe.address).config(map=dict(recipe.conf))
    own: SparkSession = builder.create()
    return own
