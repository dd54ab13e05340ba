"""Submit loads and look them up: each is a row, the same content is the same load."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.catalog import Catalog
from goldsmith.errors import GoldsmithError
from goldsmith.journal import row_storage
from goldsmith.journal.clock import now
from goldsmith.journal.definitions import lakehouse_loads
from goldsmith.journal.ids import new_id
from goldsmith.journal.journal import Journal
from goldsmith.journal.lakehouse_tables import LoadMode, LoadStatus, RawLoad
from goldsmith.lakehouse import applications, objects
from goldsmith.lakehouse.objects import BadLoad
from goldsmith.lakehouse.raw_tables import NAMESPACES
from goldsmith.storage.storage import Storage

_FIELDS = frozenset(
    ("fileKeys", "patterns", "namespace", "tableName", "mode", "catalogName", "jobId")
)


@dataclass(eq=False, kw_only=True)
class UnknownLoad(GoldsmithError):
    """The tenant has no load with that id."""

    load_id: str

    def __str__(self) -> str:
        return f"There is no load '{self.load_id}'."

    @property
    def hint(self) -> str:
        return "`goldsmith raw loads` lists the loads."


def submit(
    catalog: Catalog, journal: Journal, storage: Storage, tenant: str, body: Mapping[str, Any]
) -> RawLoad:
    """Store a load as its client sent it; the stored one if its content came before."""
    table, mode, patterns, keys = _checked(body)
    applications.find_active(catalog, table)
    found = objects.resolve(storage, tenant, patterns, keys)
    files = [{"path": file.path, "etag": file.etag, "size": file.size} for file in found]
    content: list[Any] = [tenant, table, mode, files]
    if not files:  # two patterns that match nothing are two loads
        content += [sorted(patterns), sorted(keys)]
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    row = RawLoad(
        load_id=new_id("load"),
        tenant_id=tenant,
        table_name=table,
        mode=mode,
        patterns=tuple(patterns),
        file_keys=tuple(keys),
        files=tuple(files),
        content_hash=digest,
        matched_files=len(files),
    )
    same = sa.select(lakehouse_loads).where(lakehouse_loads.c.content_hash == digest)
    # One writer at a time: two requests at once cannot both find nothing.
    with journal.writing() as connection:
        before = row_storage.select(connection, RawLoad, same)
        if before:
            return before[0]
        return row_storage.insert(connection, row, submitted_at=now())


def find(journal: Journal, tenant: str, load_id: str) -> RawLoad:
    """A load of a tenant; raises UnknownLoad, for those of others too."""
    columns = lakehouse_loads.c
    query = sa.select(lakehouse_loads).where(
        columns.load_id == load_id, columns.tenant_id == tenant
    )
    with journal.reading() as connection:
        found = row_storage.select(connection, RawLoad, query)
    if not found:
        raise UnknownLoad(load_id=load_id[:200])
    return found[0]


def listed(journal: Journal, *, most: int) -> list[RawLoad]:
    """The newest loads."""
    query = sa.select(lakehouse_loads).order_by(lakehouse_loads.c.submitted_at.desc()).limit(most)
    with journal.reading() as connection:
        return row_storage.select(connection, RawLoad, query)


def cancel(journal: Journal, load_id: str) -> RawLoad:
    """Cancel a load that no service has begun; raises UnknownLoad, or BadLoad if one has."""
    with journal.writing() as connection:
        row = row_storage.update(
            connection,
            RawLoad,
            {"load_id": load_id, "status": LoadStatus.ACCEPTED.value},
            status=LoadStatus.CANCELED.value,
            content_hash=None,
            ended_at=now(),
        )
        if row is not None:
            return row
        known = sa.select(lakehouse_loads.c.status).where(lakehouse_loads.c.load_id == load_id)
        status = connection.execute(known).scalar_one_or_none()
    if status is None:
        raise UnknownLoad(load_id=load_id)
    raise BadLoad(problem=f"the load {load_id} is {status} and cannot be canceled.")


def _checked(body: Mapping[str, Any]) -> tuple[str, str, list[str], list[str]]:
    if unknown := sorted(set(body) - _FIELDS):
        raise BadLoad(problem=f"the field {str(unknown[0])[:100]!r} is unknown.")
    for name in ("catalogName", "jobId"):
        if body.get(name) is not None:
            raise BadLoad(problem=f"{name} is not supported; leave it out.")
    patterns = _paths(body, "patterns", objects.MOST_PATTERNS, is_pattern=True)
    keys = _paths(body, "fileKeys", objects.MOST_KEYS, is_pattern=False)
    if not patterns and not keys:
        raise BadLoad(problem="it has neither patterns nor fileKeys.")
    if (namespace := body.get("namespace")) not in NAMESPACES:
        names = " or ".join(sorted(NAMESPACES))
        raise BadLoad(problem=f"the namespace is {str(namespace)[:100]!r}, not {names}.")
    table = body.get("tableName")
    if not isinstance(table, str):
        raise BadLoad(problem="tableName is missing or is not text.")
    mode = body.get("mode") or LoadMode.APPEND.value
    if mode not in tuple(LoadMode):
        raise BadLoad(problem=f"mode is {str(mode)[:100]!r}, not APPEND or UPSERT.")
    return table, str(mode), patterns, keys


def _paths(body: Mapping[str, Any], name: str, most: int, *, is_pattern: bool) -> list[str]:
    given = body.get(name)
    if given is None:
        return []
    if not isinstance(given, list) or len(given) > most:
        raise BadLoad(problem=f"{name} is not a list of at most {most}.")
    return [objects.checked_path(text, is_pattern=is_pattern) for text in given]
