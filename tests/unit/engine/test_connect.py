"""Sessions of Spark Connect, without a server."""

from __future__ import annotations

import gc
from types import SimpleNamespace

import pytest
from pyspark.sql.connect.session import SparkSession

from goldsmith.engine.session import connect


def test_the_garbage_collector_closes_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    monkeypatch.setattr(SparkSession, "__del__", SparkSession.__del__)  # restored after the test
    connect.close_only_when_stopped()
    session = SparkSession.__new__(SparkSession)
    session._client = SimpleNamespace(close=lambda: closed.append("closed"))
    del session
    gc.collect()
    assert closed == []
