"""Compare two extraction runs: records added, removed, and changed, by path inside the record.

Equal records are matched first, as often as they occur. Of what is left, two records are the same
thing changed if they are the only ones with their identity: tenant, connection, typename,
entity_name and the given keys. Where several share it, they are removed and added.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from goldsmith.errors import GoldsmithError
from goldsmith.lakehouse.raw_tables import find_table
from goldsmith.lakehouse.runs import NoRawTable
from goldsmith.storage.storage import Storage

_IDENTITY = ("tenant_id", "connection_qualified_name", "typename", "entity_name")
_COLUMNS = (*_IDENTITY, "raw_record")
_TAKE = {name: f"CREATE TEMP TABLE {name} AS SELECT * FROM incoming" for name in ("old", "new")}
_ROWS = {name: f"SELECT count(*) FROM {name}" for name in _TAKE}
#: The records that one run has more often than the other: how often, negative for the old run.
_LEFT = """
SELECT tenant_id, connection_qualified_name, typename, entity_name, raw_record, sum(n)
FROM (
    SELECT *, -1 AS n FROM old UNION ALL SELECT *, 1 AS n FROM new
) GROUP BY ALL HAVING sum(n) <> 0 ORDER BY ALL
"""


@dataclass(eq=False, kw_only=True)
class UnknownRawRun(GoldsmithError):
    """The table of an application holds no record of that run."""

    run_id: str
    application: str

    def __str__(self) -> str:
        return f"The table of '{self.application}' holds no record of the run '{self.run_id}'."

    @property
    def hint(self) -> str:
        return f"`goldsmith raw runs {self.application}` lists its runs."


@dataclass(frozen=True, kw_only=True, slots=True)
class PathChange:
    """One value inside a record that differs; the path is a JSON pointer."""

    path: str
    before: Any
    after: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordChange:
    """A record that was added, removed or changed."""

    kind: str
    identity: tuple[Any, ...]
    paths: tuple[PathChange, ...] = ()

    def as_plain(self) -> dict[str, Any]:
        value = dict(zip(_IDENTITY, self.identity, strict=False))
        if self.kind == "changed":
            value["paths"] = [
                {"path": each.path, "before": each.before, "after": each.after}
                for each in self.paths
            ]
        return value


def difference(
    storage: Storage, application: str, old: str, new: str, *, keys: Sequence[str] = ()
) -> list[RecordChange]:
    """What differs between two runs; raises NoRawTable and UnknownRawRun."""
    table = find_table(storage, application)
    if table is None:
        raise NoRawTable(name=application)
    groups: dict[tuple[Any, ...], tuple[list[Any], list[Any]]] = {}
    for *identity, raw_record, times in _left(table, application, old, new):
        parsed = json.loads(raw_record, parse_float=Decimal)
        key = (*identity, *(_text(parsed.get(name)) for name in keys))
        groups.setdefault(key, ([], []))[times > 0].extend([parsed] * abs(times))
    return [change for key in sorted(groups, key=str) for change in _changes(key, *groups[key])]


def _changes(key: tuple[Any, ...], removed: list[Any], added: list[Any]) -> Iterator[RecordChange]:
    # Equal as JSON, though their texts differ: the order of members, or 1.0 and 1.00.
    for record in list(removed):
        if record in added and not any(_paths("", record, added[added.index(record)])):
            added.remove(record)
            removed.remove(record)
    if len(removed) == len(added) == 1:
        paths = tuple(_paths("", removed[0], added[0]))
        yield RecordChange(kind="changed", identity=key, paths=paths)
        return
    yield from (RecordChange(kind="removed", identity=key) for _ in removed)
    yield from (RecordChange(kind="added", identity=key) for _ in added)


def _paths(path: str, before: Any, after: Any) -> Iterator[PathChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            inner = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
            if name in before and name in after:
                yield from _paths(inner, before[name], after[name])
            else:
                yield _change(inner, before.get(name), after.get(name))
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            inner = f"{path}/{index}"
            if index < len(before) and index < len(after):
                yield from _paths(inner, before[index], after[index])
            else:
                sides = [each[index] if index < len(each) else None for each in (before, after)]
                yield _change(inner, *sides)
    elif isinstance(before, bool) is not isinstance(after, bool) or before != after:
        yield _change(path, before, after)


def _change(path: str, before: Any, after: Any) -> PathChange:
    return PathChange(path=path, before=_plain(before), after=_plain(after))


def _plain(value: Any) -> Any:
    """The value with numbers as JSON writes them."""
    return json.loads(_text(value))


def _text(value: Any) -> str:
    return json.dumps(value, default=float, sort_keys=True)


def _left(table: Any, application: str, old: str, new: str) -> Iterator[tuple[Any, ...]]:
    import duckdb
    from pyiceberg.expressions import EqualTo

    with duckdb.connect() as connection:
        for name, run_id in (("old", old), ("new", new)):
            scan = table.scan(
                row_filter=EqualTo("workflow_run_id", run_id),  # type: ignore[call-arg,arg-type]
                selected_fields=_COLUMNS,
            )
            reader = scan.to_arrow_batch_reader()
            connection.register("incoming", reader)
            connection.execute(_TAKE[name])
            connection.unregister("incoming")
            [(rows,)] = connection.execute(_ROWS[name]).fetchall()
            if rows == 0:
                raise UnknownRawRun(run_id=run_id, application=application)
        yield from connection.execute(_LEFT).fetchall()
