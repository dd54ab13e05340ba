"""A folder for each test of a reader."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from goldsmith.storage.storage import Storage

sys.path.insert(0, str(Path(__file__).parent))

from source_folder import Drop

_NUMBERS = itertools.count()


@pytest.fixture
def drop(spark: SparkSession, storage: Storage) -> Drop:
    """An empty folder of the project's storage."""
    return Drop(spark=spark, storage=storage, location=f"s3://company/drop-{next(_NUMBERS)}/")
