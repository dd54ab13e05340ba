"""Spark settings that trade speed for memory, disk or requests; a session can set all of them."""

from __future__ import annotations

from collections.abc import Mapping

#: Small partitions that can spill, no broadcasts, small batches for Python workers.
SMALL: Mapping[str, str] = {
    "spark.sql.files.maxPartitionBytes": "16m",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
    "spark.sql.join.preferSortMergeJoin": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.sql.inMemoryColumnarStorage.batchSize": "1000",
}
#: Less shuffle data on disk: small tables are broadcast instead of shuffled.
LESS_SPILL: Mapping[str, str] = {
    "spark.sql.autoBroadcastJoinThreshold": "64m",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "128m",
}
#: Few parallel requests to a storage that throttles.
SLOW: Mapping[str, str] = {
    "spark.sql.files.maxPartitionNum": "2",
    "spark.sql.files.maxPartitionBytes": "512m",
}
