"""A session for a few rows, as `checks try` has it."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from goldsmith.engine import session, small


@pytest.fixture(scope="session")
def quick(spark: SparkSession) -> SparkSession:
    """The shared session's own, with what makes tiny jobs quick."""
    own = session.new_session(spark)
    for name, value in small.QUICK.items():
        own.conf.set(name, value)
    return own
