"""Check that what a manifest says arrived: table by table, edge by edge, query by query.

Receivers show pushes after a while. Before that nothing is "not yet"; after it, it is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any

from goldsmith.assets.items import Flow, Item
from goldsmith.assets.manifest import Manifest
from goldsmith.digest.guard import Guard, StatementKilled
from goldsmith.emitters import documents
from goldsmith.emitters.graphql_client import GraphqlClient

#: How long after a push each flow is shown, by the receivers' documentation.
SHOWN_AFTER = {
    Flow.METADATA: timedelta(minutes=5),
    Flow.LINEAGE: timedelta(minutes=5),
    Flow.QUERY_LOGS: timedelta(minutes=20),
}
#: Items of a manifest that are checked.
SAMPLE = 20


class CheckState(StrEnum):
    """What a check found."""

    OK = "ok"
    NOT_YET = "not yet"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class ArrivalCheck:
    """One check: of which item, what of it, and what was found."""

    item: str
    checkpoint: str
    state: CheckState
    found: str


def try_after(manifest: Manifest) -> datetime | None:
    """When all of a pushed manifest should be shown; None if it was not pushed."""
    pushed = manifest.after_push.get("pushed_at")
    if not isinstance(pushed, str):
        return None
    try:
        at = datetime.fromisoformat(pushed)
    except ValueError:
        return None
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return at + SHOWN_AFTER[manifest.flow]


def validate(
    manifest: Manifest, client: GraphqlClient, *, now: datetime, sample: int = SAMPLE
) -> list[ArrivalCheck]:
    """Check the first items of a manifest."""
    due = try_after(manifest)
    missing = CheckState.NOT_YET if due is not None and now < due else CheckState.FAILED
    checks = {
        Flow.METADATA: _metadata,
        Flow.LINEAGE: _lineage,
        Flow.QUERY_LOGS: _query_logs,
    }[manifest.flow]
    return [
        ArrivalCheck(
            item=item,
            checkpoint=checkpoint,
            state=CheckState.OK if problem is None else missing,
            found=problem or "arrived",
        )
        for item, checkpoint, problem in checks(manifest, client, sample)
    ]


#: An item, what of it, and what is wrong.
Finding = tuple[str, str, str | None]


def _metadata(manifest: Manifest, client: GraphqlClient, sample: int) -> Iterator[Finding]:
    for item in islice(manifest.items(), sample):
        about = item["metadata"]
        table_id = f"{about['database']}:{about['schema']}.{about['name']}"
        found = client.ask(documents.TABLE, f=table_id, d=manifest.resource_uuid).get("getTable")
        if not found or found.get("isDeleted"):
            yield table_id, "table", "getTable does not show it"
            continue
        yield table_id, "table", None
        yield from _columns(table_id, item, found)
        volume = item.get("volume") or {}
        start = (datetime.now(UTC) - timedelta(days=2)).isoformat()
        for name, metric in (("row_count", "total_row_count"), ("byte_count", "total_byte_count")):
            if volume.get(name) is None:
                continue
            answer = client.ask(documents.METRICS, m=found["mcon"], n=metric, s=start)
            points = (answer.get("getMetricsV4") or {}).get("metrics") or []
            values = {point["value"] for point in points}
            wrong = None if float(volume[name]) in values else f"{metric} is not {volume[name]}"
            yield table_id, "volume", wrong
        if (item.get("freshness") or {}).get("last_update_time"):
            shown = ((found.get("thresholds") or {}).get("freshness") or {}).get("lastUpdate")
            yield table_id, "freshness", None if shown else "it has no last update"


def _columns(table_id: str, item: Item, found: Mapping[str, Any]) -> Iterator[Finding]:
    wanted = [field["name"] for field in item.get("fields") or ()]
    if not wanted:
        return
    versions = (found.get("versions") or {}).get("edges") or []
    fields = versions[0]["node"]["fields"]["edges"] if versions else []
    shown = {edge["node"]["name"] for edge in fields}
    # A page has 500 columns.
    missing = [name for name in wanted[:500] if name not in shown]
    yield table_id, "columns", f"{', '.join(missing[:5])} is missing" if missing else None


def _lineage(manifest: Manifest, client: GraphqlClient, sample: int) -> Iterator[Finding]:
    def mcon(reference: Mapping[str, Any]) -> str:
        resource = reference.get("resource_uuid") or manifest.resource_uuid
        return client.mcon(resource, _table_id(reference))

    for item in islice(manifest.items(), sample):
        name = _table_id(item["destination"])
        destination = mcon(item["destination"])
        graph = client.ask(documents.LINEAGE, m=destination, w="upstream").get("getTableLineage")
        shown = {node["mcon"] for node in (graph or {}).get("connectedNodes") or ()}
        missing = [
            _table_id(source)
            for source in item["sources"]
            if mcon(source) not in shown and mcon(source) != destination
        ]
        yield name, "table edge", f"no edge from {', '.join(missing[:3])}" if missing else None
        assets = {source.get("asset_id"): mcon(source) for source in item["sources"]}
        for field in (item.get("fields") or ())[:5]:
            for origin in field["source_fields"][:5]:
                if origin["asset_id"] not in assets:
                    continue
                answer = client.ask(
                    documents.COLUMNS, m=assets[origin["asset_id"]], c=origin["field_name"]
                ).get("getDerivedTablesPartialLineage")
                fed = {
                    (each["mcon"], column["columnName"])
                    for each in (answer or {}).get("destinations") or ()
                    for column in each["columns"]
                }
                wrong = (destination, field["name"]) not in fed
                yield (
                    f"{name}.{field['name']}",
                    "column edge",
                    f"no edge from {origin['field_name']}" if wrong else None,
                )


def _table_id(reference: Mapping[str, Any]) -> str:
    return f"{reference['database']}:{reference['schema']}.{reference['name']}"


def _query_logs(manifest: Manifest, client: GraphqlClient, sample: int) -> Iterator[Finding]:
    tables: dict[str, None] = {}
    first = last = None
    with Guard(_tables_read) as guard:
        for item in manifest.items():
            first = min(first or item["start_time"], item["start_time"])
            last = max(last or item["start_time"], item["start_time"])
            if len(tables) >= sample:
                continue
            database = (item.get("extra") or {}).get("database_name")
            try:
                tables |= dict.fromkeys(guard.call((item["query_text"], manifest.kind, database)))
            except StatementKilled:
                continue
    if not tables:
        yield "query log", "queries", "no query reads a table of three names: give a --table"
    for name in list(tables)[:sample]:
        database, schema, table = name.split(".")
        answer = client.ask(
            documents.QUERIES,
            m=client.mcon(manifest.resource_uuid, f"{database}:{schema}.{table}"),
            s=first,
            e=last,
        ).get("getAggregatedQueries")
        count = sum(each["count"] for each in (answer or {}).get("aggregatedQueries") or ())
        yield name, "queries", None if count else "getAggregatedQueries shows no query"


def _tables_read(request: Any) -> list[str]:
    from goldsmith.digest.dialects import dialect_name
    from goldsmith.digest.digest import digest

    text, log_type, database = request
    known = {"hive-s3": "hive", "athena": "trino", "presto-s3": "trino", "s3": "ansi"}
    dialect = dialect_name(known.get(log_type, log_type.partition("-")[0]))
    found = digest(text, dialect=dialect, default_db=database)
    return [name for name in found.upstream if name.count(".") == 2]
