"""The only way into this package: measure checks on the rows of Parquet files.

`checks/evaluate.py` alone calls it, where `docs/arrow.md` says that Arrow is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from goldsmith.checks.arrow import jobs
from goldsmith.checks.arrow.count_keys import count_keys
from goldsmith.checks.measures import Keys
from goldsmith.checks.parquet_files import ParquetFiles

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class ArrowMeasures(NamedTuple):
    """What Arrow has measured; Spark measures what is missing."""

    #: The values of aggregates, by name.
    aggregates: dict[str, Any]
    #: The rows and the distinct hashes of keys, by the index of the check.
    keys: dict[int, dict[str, int]]


def measure_with_arrow(
    rows: DataFrame,
    stored: ParquetFiles,
    *,
    aggregates: Mapping[str, Column] | None = None,
    keys: Mapping[int, tuple[Keys, Column | None]] | None = None,
) -> ArrowMeasures:
    """Measure these aggregates and keys of rows; raises nothing, whatever Arrow cannot do."""
    return ArrowMeasures(
        aggregates=jobs.measure(rows, aggregates, stored) if aggregates else {},
        keys=count_keys(rows, keys, stored) if keys else {},
    )
