"""A folder for each test of a reader."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from goldsmith.planning.places import Places

sys.path.insert(0, str(Path(__file__).parent))

from drop import Drop

_NUMBERS = itertools.count()


@pytest.fixture
def drop(spark: SparkSession, places: Places) -> Drop:
    """An empty folder of the project's storage."""
    return Drop(spark=spark, places=places, location=f"s3://company/drop-{next(_NUMBERS)}/")
