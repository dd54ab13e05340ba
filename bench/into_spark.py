"""Calls into Spark, timed: from where other code calls pyspark to where it returns to it."""

from __future__ import annotations

import functools
import inspect
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NamedTuple


class Spent(NamedTuple):
    """Seconds that passed, and those in which the thread really worked."""

    passed: float
    worked: float

    @classmethod
    def so_far(cls) -> Spent:
        return cls(time.perf_counter(), time.thread_time())

    def since(self, before: Spent) -> Spent:
        return Spent(self.passed - before.passed, self.worked - before.worked)


class _Of(threading.local):
    """What one thread has spent; numbers by themselves, for the measuring must cost little."""

    inside = False
    calls = 0
    passed = 0.0
    worked = 0.0


_TRIES = 2_000


def _nothing() -> None:
    """What it costs to be timed is seen best of something that costs nothing."""


class Inside:
    """What the calling thread has spent in pyspark, in py4j and in waiting for the JVM.

    What the measuring itself takes around each call is nobody's own time and counts as spent there.
    """

    def __init__(self) -> None:
        self._of_thread = _Of()
        self._around = self._cost_around()

    @property
    def spent(self) -> Spent:
        mine = self._of_thread
        around = mine.calls * self._around
        return Spent(mine.passed + around, mine.worked + around)

    def _cost_around(self) -> float:
        """Seconds that a timed call takes and does not see: the least of several tries."""
        nothing = self.timed(_nothing)
        found = []
        for _ in range(5):
            before, inside = time.perf_counter(), self._of_thread.passed
            for _ in range(_TRIES):
                nothing()
            timed = time.perf_counter() - before - (self._of_thread.passed - inside)
            before = time.perf_counter()
            for _ in range(_TRIES):
                _nothing()
            found.append((timed - (time.perf_counter() - before)) / _TRIES)
        self._of_thread = _Of()
        return max(0.0, min(found))

    def timed(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        mine = self._of_thread

        @functools.wraps(plain)
        def call(*arguments: Any, **more: Any) -> Any:
            if mine.inside:
                return plain(*arguments, **more)  # pyspark calls itself
            mine.inside = True
            mine.calls += 1
            passed, worked = time.perf_counter(), time.thread_time()
            try:
                return plain(*arguments, **more)
            finally:
                # To ask for the thread's time takes longer than most calls of ours.
                mine.worked += time.thread_time() - worked
                mine.passed += time.perf_counter() - passed
                mine.inside = False

        return call


@contextmanager
def calls_into_spark() -> Iterator[Inside]:
    """While inside, every function, method and property of pyspark that a stage uses is timed."""
    inside = Inside()
    kept = []
    for owner, name, plain in _parts():
        timed = _timed(inside, name, plain)
        if timed is not None:
            kept.append((owner, name, plain))
            setattr(owner, name, timed)
    try:
        yield inside
    finally:
        for owner, name, plain in kept:
            setattr(owner, name, plain)


def _parts() -> Iterator[tuple[Any, str, Any]]:
    from py4j import java_gateway

    for owner in _owners():
        for name, plain in list(vars(owner).items()):
            yield owner, name, plain
    # Python calls this for every object of the JVM that nobody needs any more.
    name = "_garbage_collect_object"
    yield java_gateway, name, getattr(java_gateway, name)


def _owners() -> list[Any]:
    from py4j.java_gateway import JavaMember, JavaObject
    from pyspark import SparkContext
    from pyspark.sql import functions, types
    from pyspark.sql.catalog import Catalog
    from pyspark.sql.classic.column import Column
    from pyspark.sql.classic.dataframe import DataFrame
    from pyspark.sql.classic.window import Window, WindowSpec
    from pyspark.sql.conf import RuntimeConfig
    from pyspark.sql.group import GroupedData
    from pyspark.sql.observation import Observation
    from pyspark.sql.readwriter import DataFrameReader, DataFrameWriter, DataFrameWriterV2
    from pyspark.sql.session import SparkSession

    return [
        *(functions, types.StructType, SparkContext, SparkSession, Catalog, RuntimeConfig),
        *(DataFrame, Column, GroupedData, Observation, Window, WindowSpec),
        *(DataFrameReader, DataFrameWriter, DataFrameWriterV2, JavaMember, JavaObject),
    ]


def _timed(inside: Inside, name: str, plain: Any) -> Any:
    if name in ("__new__", "__init__", "__del__", "__getattribute__", "__repr__"):
        return None
    if type(plain) is property and plain.fget is not None:
        return property(inside.timed(plain.fget), plain.fset, plain.fdel, plain.__doc__)
    if isinstance(plain, FunctionType) and not inspect.isgeneratorfunction(plain):
        return inside.timed(plain)
    return None
