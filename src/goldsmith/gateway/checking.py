"""Check the body of a push, and name each wrong field with the problem."""

from __future__ import annotations

import gzip
import json
import uuid
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from goldsmith.assets.bodies import LARGEST, compressed_size
from goldsmith.assets.errors import BadItem, UnknownLogType
from goldsmith.assets.items import ASSET_TYPES, Flow, check_log_type, checked
from goldsmith.catalog.columns import EARLIEST, LATEST

#: The event types of each endpoint.
PATHS: Mapping[str, tuple[str, ...]] = {
    "metadata": ("METADATA",),
    "lineage": ("LINEAGE", "COLUMN_LINEAGE"),
    "querylogs": ("QUERY_LOG",),
    "etl/metadata": ("ETL_METADATA",),
    "etl/runs": ("ETLRUN",),
    "bi/metadata": ("BI_METADATA",),
}
#: A body is at most this large before it is compressed.
LARGEST_PLAIN = 20_000_000
_LARGEST_COUNT = 2**63 - 1
_FLOWS = {"metadata": Flow.METADATA, "lineage": Flow.LINEAGE, "querylogs": Flow.QUERY_LOGS}
_KNOWN_ASSET = {"type", "metadata", "tags", "fields", "volume", "freshness"}
_KNOWN = {
    "metadata": {"name", "database", "schema", "description", "view_query", "created_on"},
    "volume": {"row_count", "byte_count"},
    "freshness": {"last_update_time"},
    "lineage": {"destination", "sources", "fields"},
    "querylogs": {
        *("start_time", "end_time", "query_text", "query_id", "user", "error_code"),
        *("error_text", "returned_rows", "extra"),
    },
}


class DoorRefusal(Exception):
    """A refusal: the HTTP status, a message, and the problem of each wrong field."""

    def __init__(self, status: int, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.details = status, message, dict(details or {})


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedBody:
    """A body that was accepted."""

    path: str
    text: str
    events: list[Any]
    resource_uuid: str | None
    kind: str | None


def plain_body(raw: bytes, encoding: str | None) -> bytes:
    """The body without its compression; refuses one over 1 MB compressed."""
    if encoding in (None, "", "identity"):
        if len(raw) > LARGEST and compressed_size(raw) > LARGEST:
            raise DoorRefusal(413, "The compressed body is larger than 1 MB. Send fewer events.")
        return raw
    if encoding != "gzip":
        raise DoorRefusal(400, f"The Content-Encoding '{encoding[:50]}' is not known; gzip is.")
    if len(raw) > LARGEST:
        raise DoorRefusal(413, "The compressed body is larger than 1 MB. Send fewer events.")
    try:
        opened = zlib.decompressobj(wbits=31)
        found = opened.decompress(raw, LARGEST_PLAIN)
    except (zlib.error, gzip.BadGzipFile) as error:
        raise DoorRefusal(400, f"The body is not gzip: {error}") from None
    if opened.unconsumed_tail:
        raise DoorRefusal(413, f"The body has more than {LARGEST_PLAIN:,} bytes unpacked.")
    return found


def checked_body(
    path: str, raw: bytes, authorize: Callable[[frozenset[str]], None] = lambda _: None
) -> CheckedBody:
    """The body of a request to an endpoint; raises DoorRefusal with 400.

    `authorize` is called with the resources it names, that of the body before its shape is
    checked: a sender without permission gets that answer first.
    """
    try:
        text = raw.decode("utf-8")
        body = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise DoorRefusal(400, f"The body is not JSON: {error}"[:300]) from None
    if not isinstance(body, dict):
        raise DoorRefusal(400, "The body is not a JSON object.")
    resource, kind = _resource(path, body)
    if resource is not None:
        authorize(frozenset((resource,)))
    unknown = sorted(set(body) - {"event_type", "resource", "events", "event_time"})
    wrong: dict[str, str] = dict.fromkeys(unknown[:20], "Unknown field.")
    if body.get("event_type") not in PATHS[path]:
        wrong["event_type"] = f"Must be {' or '.join(PATHS[path])}."
    events = body.get("events")
    if not isinstance(events, list) or not events:
        wrong["events"] = "Must be a list of at least one event."
    if wrong:
        raise DoorRefusal(400, "The body does not have the shape of this endpoint.", wrong)
    assert isinstance(events, list)
    resources = {resource} if resource else set()
    for number, event in enumerate(events):
        try:
            resources |= _check_event(path, event, has_resource=resource is not None)
        except BadItem as error:
            raise _refusal(number, f"{error.item}: {error.problem}") from None
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise _refusal(number, str(error) or type(error).__name__) from None
    authorize(frozenset(resources))
    return CheckedBody(
        path=path,
        text=text,
        events=events,
        resource_uuid=resource,
        kind=kind,
    )


def _refusal(number: int, problem: str) -> DoorRefusal:
    return DoorRefusal(
        400, "An event does not have the shape of this endpoint.", {f"events[{number}]": problem}
    )


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _resource(path: str, body: Mapping[str, Any]) -> tuple[str | None, str | None]:
    resource = body.get("resource")
    if resource is None and path == "lineage":
        return None, None
    key = "log_type" if path == "querylogs" else "resource_type"
    if not isinstance(resource, dict):
        raise DoorRefusal(400, "The body has no resource.", {"resource": "Missing."})
    try:
        found = str(uuid.UUID(resource.get("uuid")))
    except (ValueError, TypeError, AttributeError):
        raise DoorRefusal(
            400, "resource.uuid is not a UUID.", {"resource.uuid": "Not a UUID."}
        ) from None
    kind = resource.get(key)
    if path == "querylogs":
        try:
            return found, check_log_type(kind if isinstance(kind, str) else "")
        except UnknownLogType:
            raise DoorRefusal(
                400,
                f"Unsupported ingest query-log log_type: {str(kind)[:100]!r}",
                {"resource.log_type": "Unknown; Hive is hive-s3."},
            ) from None
    if not isinstance(kind, str) or not kind:
        raise DoorRefusal(
            400, "resource.resource_type is missing.", {"resource.resource_type": "Missing."}
        )
    return found, kind


def _check_event(path: str, event: Any, *, has_resource: bool) -> set[str]:
    """Check one event; returns the resources it names itself."""
    if not isinstance(event, dict):
        raise ValueError("It is not an object.")
    if path not in _FLOWS:
        object_id(path, event)
        return set()
    if path == "metadata":
        _check_asset(event)
        return set()
    checked(_FLOWS[path], event)
    _no_unknown(event, _KNOWN[path], "")
    if path == "querylogs":
        for name in ("start_time", "end_time"):
            event_time(event[name])
        _count(event.get("returned_rows"), "returned_rows")
        return set()
    found: set[str] = set()
    for reference in (event["destination"], *event["sources"]):
        both = (reference.get("resource_uuid"), reference.get("resource_type"))
        if any(both) != all(both):
            raise ValueError("resource_uuid and resource_type of a table go together.")
        if both[0]:
            found.add(str(uuid.UUID(both[0])))
        elif not has_resource:
            raise ValueError("Neither the body nor the table names a resource.")
    return found


def _check_asset(event: Mapping[str, Any]) -> None:
    asset = event.get("relational_asset")
    if not isinstance(asset, dict):
        raise ValueError("It has no relational_asset.")
    _no_unknown(event, {"relational_asset"}, "")
    checked(Flow.METADATA, asset)
    assert asset["type"] in ASSET_TYPES
    _no_unknown(asset, _KNOWN_ASSET, "relational_asset.")
    for part in ("metadata", "volume", "freshness"):
        value = asset.get(part)
        if value is None:
            continue
        if not isinstance(value, dict):
            raise ValueError(f"{part} is not an object.")
        _no_unknown(value, _KNOWN[part], f"{part}.")
    volume = asset.get("volume") or {}
    for name in ("row_count", "byte_count"):
        _count(volume.get(name), f"volume.{name}")
    updated = (asset.get("freshness") or {}).get("last_update_time")
    if updated is not None:
        event_time(updated)


def _no_unknown(value: Mapping[str, Any], known: set[str], prefix: str) -> None:
    if unknown := sorted(set(value) - known):
        raise ValueError(f"Unknown field: {prefix}{str(unknown[0])[:100]}")


def _count(value: Any, name: str) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST_COUNT:
        raise ValueError(f"{name} is not a count.")


def event_time(text: Any) -> datetime:
    """A time of an event, in UTC; raises ValueError."""
    if not isinstance(text, str):
        raise ValueError("A time is not text.")
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"'{text[:60]}' is not a time in ISO 8601.") from None
    found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    if not EARLIEST <= found < LATEST:
        raise ValueError(f"'{text[:60]}' is not in the years 1000 to 9998.")
    return found


def object_id(path: str, event: Mapping[str, Any]) -> str:
    """The id of a job, a run or a report."""
    content: Any = event
    if path == "etl/metadata":
        content = event.get("etl_asset")
    elif path == "bi/metadata":
        content = event.get("bi_asset", event)
    if not isinstance(content, dict):
        raise ValueError("It has no asset.")
    names = {
        "etl/metadata": ("job_source_id",),
        "etl/runs": ("run_source_id",),
        "bi/metadata": ("source_id", "asset_source_id", "bi_asset_id", "id"),
    }[path]
    for name in names:
        found = content.get(name)
        if isinstance(found, str) and found:
            return found
    raise ValueError(f"'{names[0]}' is missing or is not text.")
