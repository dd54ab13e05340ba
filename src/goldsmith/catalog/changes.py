"""The history of every declared row: who changed it, when, why, before and after."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.catalog.catalog import Catalog, Change
from goldsmith.catalog.columns import plain, same
from goldsmith.catalog.definitions import changes_table, revision_table
from goldsmith.catalog.errors import ChangedSince, UnknownRevision
from goldsmith.catalog.rows import Row, key_text
from goldsmith.catalog.schema import BY_TABLE


@dataclass(frozen=True, kw_only=True, slots=True)
class RowChange:
    """One change of one row."""

    change_id: int
    revision: int
    at: datetime
    actor: str
    reason: str | None
    table: str
    key: tuple[Any, ...]
    operation: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    @property
    def differences(self) -> dict[str, tuple[Any, Any]]:
        """The columns that changed, with their values before and after."""
        before, after = self.before or {}, self.after or {}
        return {
            name: (before.get(name), after.get(name))
            for name in {**before, **after}
            if before.get(name) != after.get(name)
        }

    def as_plain(self) -> dict[str, Any]:
        return {
            "revision": self.revision,
            "at": self.at.isoformat(),
            "actor": self.actor,
            "reason": self.reason,
            "table": self.table,
            "key": list(self.key),
            "operation": self.operation,
            "before": self.before,
            "after": self.after,
        }


def history(
    catalog: Catalog,
    *,
    table: str | None = None,
    key: Sequence[str] | None = None,
    since: int | None = None,
    revision: int | None = None,
    before: int | None = None,
    most: int | None = None,
) -> list[RowChange]:
    """Changes, newest first; `before` is the change_id of the last one already read."""
    query = sa.select(changes_table).order_by(changes_table.c.change_id.desc())
    if table is not None:
        query = query.where(changes_table.c.table_name == table)
    if since is not None:
        query = query.where(changes_table.c.revision > since)
    if revision is not None:
        query = query.where(changes_table.c.revision == revision)
    if before is not None:
        query = query.where(changes_table.c.change_id < before)
    if key is None and most is not None:
        query = query.limit(most)
    with database.reading(catalog.engine) as connection:
        found = [_change(row) for row in connection.execute(query)]
    if key is not None:
        wanted = [str(part) for part in key]
        found = [change for change in found if [str(part) for part in change.key] == wanted]
    return found[:most]


def undo(
    catalog: Catalog,
    *,
    actor: str,
    revision: int | None = None,
    since: int | None = None,
    reason: str | None = None,
    dry_run: bool = False,
    then: Callable[[Change, int], None] | None = None,
) -> list[tuple[Row | None, Row | None]]:
    """Undo one revision, or everything after one; the undo is itself a new revision.

    Returns the rows as (now, after the undo), and calls `then` inside the transaction. Raises
    ChangedSince if a row was changed again after the revision: that change must not be lost.
    """
    default_reason = (
        f"undo of revision {revision}" if since is None else f"undo back to revision {since}"
    )
    with catalog.change(actor=actor, reason=reason or default_reason) as change:
        taken = _to_take_back(change.connection, revision=revision, since=since)
        pairs = [_pair(first, last) for first, last in taken]
        change.remove([now for now, before in pairs if now is not None and before is None])
        change.put([before for _now, before in pairs if before is not None], exact=True)
        if dry_run or all(now == before for now, before in pairs):
            change.abandon()
        if then is not None:
            then(change, len(pairs))
    return pairs


def _to_take_back(
    connection: sa.Connection, *, revision: int | None, since: int | None
) -> list[tuple[RowChange, RowChange]]:
    """The first and the last change of each row concerned."""
    newest = int(connection.execute(sa.select(revision_table.c.revision)).scalar_one()) - 1
    after = since if since is not None else (revision or 0) - 1
    if not 0 <= after <= newest or (revision is not None and revision > newest):
        raise UnknownRevision(revision=revision if since is None else after, newest=newest)  # type: ignore[arg-type]
    later = [
        _change(row)
        for row in connection.execute(
            sa.select(changes_table)
            .where(changes_table.c.revision > after)
            .order_by(changes_table.c.change_id)
        )
    ]
    if since is None:
        left = {(c.table, c.key): c for c in later if c.revision == revision}
        if not left:
            raise UnknownRevision(revision=revision or 0, newest=newest)
        now = {(c.table, c.key): c for c in later}
        for row, mine in left.items():
            if not same(mine.after, now[row].after):
                _refuse(now[row], later, mine.revision)
        later = [change for change in later if change.revision == revision]
    first: dict[tuple[str, tuple[Any, ...]], RowChange] = {}
    last: dict[tuple[str, tuple[Any, ...]], RowChange] = {}
    for change in later:
        first.setdefault((change.table, change.key), change)
        last[change.table, change.key] = change
    return [(first[row], last[row]) for row in first]


def _refuse(newest: RowChange, later: Sequence[RowChange], revision: int) -> None:
    row = (newest.table, newest.key)
    first = next(c for c in later if c.revision == revision and (c.table, c.key) == row)
    raise ChangedSince(
        table=newest.table,
        key=key_text(newest.key),
        revision=revision,
        later=newest.revision,
        undone_to=first.before,
        now=newest.after,
    )


def _pair(first: RowChange, last: RowChange) -> tuple[Row | None, Row | None]:
    kind = BY_TABLE[first.table]
    now = None if last.after is None else kind.from_image(last.after)
    then = None if first.before is None else kind.from_image(first.before)
    return now, then


def _change(row: Any) -> RowChange:
    return RowChange(
        change_id=row.change_id,
        revision=row.revision,
        at=row.at,
        actor=row.actor,
        reason=row.reason,
        table=row.table_name,
        key=tuple(json.loads(row.row_key)),
        operation=row.operation,
        before=_image(row.table_name, row.before),
        after=_image(row.table_name, row.after),
    )


def _image(table: str, raw: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A row's image with the same values whichever database stored it."""
    if raw is None or table not in BY_TABLE:
        return raw
    columns = BY_TABLE[table].table.by_name
    return {
        name: plain(columns[name].from_storage(value))
        if value is not None and name in columns
        else value
        for name, value in raw.items()
    }
