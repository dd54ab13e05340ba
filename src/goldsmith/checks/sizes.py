"""Spark's estimates of the size of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Spark's estimate of rows whose size it does not know.
_UNKNOWN = 2**63 - 1


def is_broadcast(rows: DataFrame) -> bool:
    """Spark would broadcast the rows in a join; False where Spark shows no plan."""
    plan = _plan(rows)
    return plan is not None and 0 < _bytes(plan) <= int(plan.conf().autoBroadcastJoinThreshold())


def bytes_read(rows: DataFrame) -> int:
    """The bytes Spark expects to read for the rows; 0 where Spark shows no plan.

    Only the leaves of the plan count: for a join Spark's estimate is the product of both sizes.
    """
    plan = _plan(rows)
    if plan is None:
        return 0
    leaves = plan.collectLeaves()
    sizes = [_bytes(leaves.apply(index)) for index in range(leaves.size())]
    return sum(size for size in sizes if size < _UNKNOWN)


def _plan(rows: DataFrame) -> Any:
    java: Any = getattr(rows, "_jdf", None)  # Connect shows no plan
    return None if java is None else java.queryExecution().optimizedPlan()


def _bytes(plan: Any) -> int:
    return int(str(plan.stats().sizeInBytes()))  # a Python or a Scala number
