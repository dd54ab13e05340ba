"""A session for a few rows, as `checks try` has it."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from goldsmith.engine.session import local_session, spark_session


@pytest.fixture(scope="session")
def quick(spark: SparkSession) -> SparkSession:
    """The shared session's own, with what makes tiny jobs quick."""
    own = spark_session.new_session(spark)
    for name, value in local_session.QUICK.items():
        own.conf.set(name, value)
    return own
