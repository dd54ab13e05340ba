"""Keep only the newest of the rows with equal keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from goldsmith.catalog.transforms import StageTransform
from goldsmith.engine.shape.latest_per_key import latest_per_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_HINT = "It is an object: {keys: [column], newest_by: column}; newest_by may be left out."


def _apply(rows: DataFrame, value: Any) -> DataFrame:
    return latest_per_key(rows, keys=value["keys"], newest_by=value.get("newest_by"))


def _problems(value: Any) -> Iterator[tuple[str, str]]:
    keys = value.get("keys") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(keys, list | tuple) or not keys:
        yield f"is '{str(value)[:100]}'.", _HINT
        return
    for key in sorted(set(value) - {"keys", "newest_by"}):
        yield f"holds '{str(key)[:100]}', which nothing reads.", _HINT


deduplicate = StageTransform(
    position=40,
    type="mapping with `keys` and `newest_by`",
    doc="Keeps only the newest of the rows of one load with equal keys; the last step.",
    example="{keys: [order_id], newest_by: updated_at}",
    problems=_problems,
    apply=_apply,
)
