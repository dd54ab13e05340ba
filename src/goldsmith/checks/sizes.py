"""How large Spark takes a plan for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def is_broadcast(rows: DataFrame) -> bool:
    """Spark would send the rows to every task that joins them; False where it does not tell."""
    java: Any = getattr(rows, "_jdf", None)
    if java is None:  # Connect shows no plan
        return False
    plan = java.queryExecution().optimizedPlan()
    # Numbers come as Python's or as Scala's.
    size, limit = (
        int(str(n)) for n in (plan.stats().sizeInBytes(), plan.conf().autoBroadcastJoinThreshold())
    )
    return 0 < size <= limit
