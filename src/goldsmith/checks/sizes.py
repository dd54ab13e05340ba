"""How large Spark takes a plan for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: What Spark says of rows that it knows nothing of.
_UNKNOWN = 2**63 - 1


def is_broadcast(rows: DataFrame) -> bool:
    """Spark would send the rows to every task that joins them; False where it does not tell."""
    plan = _plan(rows)
    return plan is not None and 0 < _bytes(plan) <= int(plan.conf().autoBroadcastJoinThreshold())


def bytes_read(rows: DataFrame) -> int:
    """As many as Spark expects to read for them; 0 where it does not tell.

    Of what it makes of them it expects too much: of a join, one size times the other.
    """
    plan = _plan(rows)
    if plan is None:
        return 0
    leaves = plan.collectLeaves()
    sizes = [_bytes(leaves.apply(place)) for place in range(leaves.size())]
    return sum(size for size in sizes if size < _UNKNOWN)


def _plan(rows: DataFrame) -> Any:
    java: Any = getattr(rows, "_jdf", None)  # Connect shows no plan
    return None if java is None else java.queryExecution().optimizedPlan()


def _bytes(plan: Any) -> int:
    return int(str(plan.stats().sizeInBytes()))  # a number of Python's, or of Scala's
