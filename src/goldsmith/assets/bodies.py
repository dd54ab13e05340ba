"""Bodies of requests: items in batches, each body small enough for its receiver."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from goldsmith.assets.errors import ItemTooLarge
from goldsmith.assets.items import Flow, Item, label

#: Assets a batch: larger ones pass the ten seconds that Monte Carlo's client waits.
BATCH = 50
#: The largest body a receiver takes, compressed.
LARGEST = 1_000_000
#: A body this small is never too large compressed: it need not be compressed to know.
_SURELY_SMALL = LARGEST


@dataclass(frozen=True, kw_only=True, slots=True)
class PushBody:
    """The items of one request, and its body."""

    items: tuple[Item, ...]
    body: bytes


def body_of(flow: Flow, items: Sequence[Item], *, resource_uuid: str, kind: str) -> dict[str, Any]:
    """The body of one request, in the order of keys that Monte Carlo's client sends."""
    if flow is Flow.METADATA:
        event_type, events = "METADATA", [{"relational_asset": item} for item in items]
    elif flow is Flow.QUERY_LOGS:
        event_type, events = "QUERY_LOG", list(items)
    else:
        has_columns = any(item.get("fields") for item in items)
        event_type, events = "COLUMN_LINEAGE" if has_columns else "LINEAGE", list(items)
    return {
        "event_type": event_type,
        "resource": {"uuid": resource_uuid, flow.type_key: kind},
        "events": events,
    }


def encoded(body: dict[str, Any]) -> bytes:
    """The bytes of a body, equal to those of Monte Carlo's client."""
    return json.dumps(body).encode("ascii")


def batches(
    flow: Flow,
    items: Iterable[Item],
    *,
    resource_uuid: str,
    kind: str,
    size: int = BATCH,
    largest: int = LARGEST,
) -> Iterator[PushBody]:
    """Batches of at most `size` items; a body that is too large compressed is split in halves."""
    waiting: list[Item] = []
    for item in items:
        waiting.append(item)
        if len(waiting) == size:
            yield from _fitting(flow, waiting, resource_uuid, kind, largest)
            waiting = []
    if waiting:
        yield from _fitting(flow, waiting, resource_uuid, kind, largest)


def _fitting(
    flow: Flow, items: Sequence[Item], resource_uuid: str, kind: str, largest: int
) -> Iterator[PushBody]:
    body = encoded(body_of(flow, items, resource_uuid=resource_uuid, kind=kind))
    if len(body) <= min(largest, _SURELY_SMALL) or (packed := compressed_size(body)) <= largest:
        yield PushBody(items=tuple(items), body=body)
        return
    if len(items) == 1:
        raise ItemTooLarge(flow=flow, item=label(flow, items[0]), size=packed, most=largest)
    middle = len(items) // 2
    yield from _fitting(flow, items[:middle], resource_uuid, kind, largest)
    yield from _fitting(flow, items[middle:], resource_uuid, kind, largest)


def compressed_size(body: bytes) -> int:
    """The size of a body compressed, as receivers measure it."""
    return len(gzip.compress(body, compresslevel=6))
