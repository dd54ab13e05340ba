"""Which throttles apply to a dataset: its own, and those of the groups it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from goldsmith.catalog.throttles import Throttle, ThrottleScope
from goldsmith.planning.stage_context import Dataset

#: The key in the options of sources and targets that names their group.
THROTTLE_GROUP = "throttle_group"


class Direction(StrEnum):
    """What a stage does with a dataset."""

    READ = "read"
    LOAD = "load"


_SCOPES = {ThrottleScope.SOURCE: Direction.READ, ThrottleScope.TARGET: Direction.LOAD}


def throttles_of(
    throttles: Iterable[Throttle], dataset: Dataset, direction: Direction
) -> tuple[Throttle, ...]:
    """The throttles that apply when a stage reads or loads a dataset, by their ids."""
    found = (throttle for throttle in throttles if _applies(throttle, dataset, direction))
    return tuple(sorted(found, key=lambda throttle: throttle.throttle_id))


def _applies(throttle: Throttle, dataset: Dataset, direction: Direction) -> bool:
    if throttle.entity_id is None or throttle.entity_type is None:
        return False
    if throttle.entity_type == ThrottleScope.GROUP:
        return is_member(throttle.entity_id, dataset)
    is_same_way = _SCOPES[ThrottleScope(throttle.entity_type)] is direction
    return is_same_way and throttle.entity_id == dataset.dataset_id


def is_member(group: str, dataset: Dataset) -> bool:
    """Whether a dataset belongs to a group: by its options, its location or its target's type."""
    rows = [row for row in (dataset.source, dataset.target) if row is not None]
    if any(str(row.options.get(THROTTLE_GROUP)) == group for row in rows):
        return True
    if dataset.target is not None and str(dataset.target.type) == group:
        return True
    location, prefix = dataset.location or "", group.rstrip("/")
    return "://" in group and (location == prefix or location.startswith(f"{prefix}/"))
