"""How large Spark takes a plan for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def is_broadcast(rows: DataFrame) -> bool:
    """Spark would send the rows to every task that joins them; False where it does not tell."""
    plan = _plan(rows)
    return plan is not None and 0 < _bytes(plan) <= int(plan.conf().autoBroadcastJoinThreshold())


def estimated_bytes(rows: DataFrame) -> int:
    """As many as Spark expects; 0 where it does not tell."""
    plan = _plan(rows)
    return 0 if plan is None else _bytes(plan)


def _plan(rows: DataFrame) -> Any:
    java: Any = getattr(rows, "_jdf", None)  # Connect shows no plan
    return None if java is None else java.queryExecution().optimizedPlan()


def _bytes(plan: Any) -> int:
    return int(str(plan.stats().sizeInBytes()))  # a number of Python's, or of Scala's
