"""The manifest of a collection: a JSON file that is written and read item by item.

Each item is on a line of its own, so that a manifest of 100,000 tables is never in memory as a
whole. Manifests that other programs wrote are read too, at once.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from goldsmith.assets.errors import BadManifest
from goldsmith.assets.items import Flow, Item, checked

_START = "[\n"
_END = "\n]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """The head of a manifest; its items stay in the file."""

    file: Path
    flow: Flow
    resource_uuid: str
    #: The resource_type, or of query logs the log_type.
    kind: str
    collected_at: str
    #: What could not be collected, and why.
    gaps: tuple[Mapping[str, str], ...] = ()
    after_push: Mapping[str, Any] = field(default_factory=dict)

    def items(self) -> Iterator[Item]:
        """The items, one at a time, each checked."""
        for item in _items_of(self.file, self.flow):
            yield checked(self.flow, item)

    def content_hash(self) -> str:
        """SHA-256 of the items: the same items of the same resource are the same push."""
        digest = hashlib.sha256(f"{self.flow} {self.resource_uuid} {self.kind}".encode())
        for item in _items_of(self.file, self.flow):
            digest.update(json.dumps(item, sort_keys=True).encode())
        return digest.hexdigest()


def write(
    file: Path,
    items: Iterable[Item],
    *,
    flow: Flow,
    resource_uuid: str,
    kind: str,
    collected_at: datetime,
    gaps: Iterable[Mapping[str, str]] = (),
) -> int:
    """Write a manifest; the file appears when it is whole. Returns the number of items.

    `gaps` is read after the items: a collector notes there what it could not read.
    """
    head = {
        "resource_uuid": resource_uuid,
        flow.type_key: kind,
        "collected_at": collected_at.isoformat(),
        "flow": flow.value,
    }
    partial = file.with_name(f".{file.name}.{os.getpid()}.partial")
    number = 0
    try:
        with partial.open("w", encoding="utf-8") as out:
            out.write(json.dumps(head, ensure_ascii=False)[:-1])
            out.write(f', "{flow.list_key}": {_START}')
            for number, item in enumerate(items, start=1):
                out.write(",\n" if number > 1 else "")
                out.write(json.dumps(item, ensure_ascii=True))
            out.write(_END)
            out.write(f', "gaps": {json.dumps([dict(gap) for gap in gaps])}}}\n')
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
    return number


def add(file: Path, values: Mapping[str, Any]) -> None:
    """Add what a push returned to a manifest; the file changes in one step."""
    partial = file.with_name(f".{file.name}.{os.getpid()}.partial")
    tail = _tail(file)
    try:
        with partial.open("w", encoding="utf-8") as out:
            if tail is None:
                whole = {**json.loads(file.read_text("utf-8")), **values}
                json.dump(whole, out, indent=2)
            else:
                position, after = tail
                with file.open("rb") as original:
                    _copy(original, out, position)
                rest = json.dumps({**after, **values})[1:]
                out.write(f"{_END}, {rest}\n")
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def _copy(original: Any, out: Any, size: int) -> None:
    while size > 0 and (chunk := original.read(min(size, 1 << 20))):
        size -= len(chunk)
        out.write(chunk.decode("ascii"))


def read(file: Path) -> Manifest:
    """The head of a manifest, or BadManifest."""
    if file.exists() and not file.is_file():
        raise BadManifest(file=file, problem="it is no file")
    try:
        head = _head(file)
    except OSError as error:
        raise BadManifest(file=file, problem=str(error.strerror or error)) from None
    except (ValueError, RecursionError) as error:
        raise BadManifest(file=file, problem=f"it is not JSON ({error})") from None
    if not isinstance(head, dict):
        raise BadManifest(file=file, problem="it is not a JSON object")
    flow = _flow_of(head)
    missing = [name for name in ("resource_uuid", "collected_at") if not head.get(name)]
    kind = head.get("log_type" if flow is Flow.QUERY_LOGS else "resource_type")
    if flow is None or missing or not isinstance(kind, str):
        lacks = missing or ["items or edges"] if flow is None else missing or ["its type"]
        raise BadManifest(file=file, problem=f"it lacks {', '.join(lacks)}")
    known = {"resource_uuid", "resource_type", "log_type", "collected_at", "flow", "items", "edges"}
    return Manifest(
        file=file,
        flow=flow,
        resource_uuid=str(head["resource_uuid"]),
        kind=kind,
        collected_at=str(head["collected_at"]),
        gaps=tuple(head.get("gaps") or ()),
        after_push={name: head[name] for name in head.keys() - known - {"gaps"}},
    )


def _flow_of(head: Mapping[str, Any]) -> Flow | None:
    if head.get("flow") in set(Flow):
        return Flow(head["flow"])
    if "edges" in head:
        return Flow.LINEAGE
    if "items" in head:
        return Flow.QUERY_LOGS if "log_type" in head else Flow.METADATA
    return None


def _head(file: Path) -> Any:
    """All of a manifest but its items."""
    tail = _tail(file)
    if tail is None:
        return json.loads(file.read_text("utf-8"))
    with file.open(encoding="utf-8") as lines:
        first = lines.readline()
    head = json.loads(first.rstrip("\n")[: -len("[")] + "[]}")
    return {**head, **tail[1]}


def _tail(file: Path) -> tuple[int, dict[str, Any]] | None:
    """Where the items end, and the values after them; None for a manifest not written by us."""
    with file.open("rb") as raw:
        if not raw.readline(10_000).endswith(b"[\n"):
            return None
        size = raw.seek(0, os.SEEK_END)
        raw.seek(max(0, size - 4_000_000))
        end = raw.read()
    at = end.rfind(b"\n], ")
    if at < 0:
        return None
    after = json.loads(b"{" + end[at + len(b"\n], ") :])
    return size - len(end) + at, after


def _items_of(file: Path, flow: Flow) -> Iterator[Any]:
    try:
        tail = _tail(file)
        if tail is None:
            yield from json.loads(file.read_text("utf-8")).get(flow.list_key) or ()
            return
        with file.open(encoding="utf-8") as lines:
            next(lines)
            for line in lines:
                if line.startswith("], "):
                    return
                if text := line.strip().rstrip(","):
                    yield json.loads(text)
    except (OSError, ValueError, RecursionError, AttributeError) as error:
        raise BadManifest(file=file, problem=f"its items cannot be read ({error})") from None
