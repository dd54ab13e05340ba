"""Spark settings that trade speed for room; all of them may be set on a session."""

from __future__ import annotations

from collections.abc import Mapping

#: Small pieces that spill, nothing broadcast, small batches for Python workers.
SMALL: Mapping[str, str] = {
    "spark.sql.files.maxPartitionBytes": "16m",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
    "spark.sql.join.preferSortMergeJoin": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.sql.inMemoryColumnarStorage.batchSize": "1000",
}
#: Less on disk at a time: small tables are sent instead of shuffled.
LESS_SPILL: Mapping[str, str] = {
    "spark.sql.autoBroadcastJoinThreshold": "64m",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "128m",
}
#: Few requests at a time to whoever asked to slow down.
SLOW: Mapping[str, str] = {
    "spark.sql.files.maxPartitionNum": "2",
    "spark.sql.files.maxPartitionBytes": "512m",
}
