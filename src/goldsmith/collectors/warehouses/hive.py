"""Hive: HiveServer2 for tables, its log file for queries; the schema is the database as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from goldsmith.collectors.collector import (
    Collector,
    ConnectionSetting,
    WarehouseFunctions,
)


class HiveConnection:
    """HiveServer2 by PyHive, and the log file that queries are read from."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.log_file = settings.get("log_file")
        self.hive: Any = None
        if "host" in settings:
            from pyhive import hive

            given: dict[str, Any] = {"auth": settings["auth"]}
            if "password" in settings:
                given["password"] = settings["password"]
            self.hive = hive.connect(
                host=settings["host"],
                port=int(settings["port"]),
                username=settings.get("user"),
                **given,
            )

    def rows(self, statement: str) -> list[Any]:
        """The rows of a statement."""
        cursor = self.hive.cursor()
        cursor.execute(statement)
        return list(cursor.fetchall())

    def close(self) -> None:
        """Close the connection."""
        if self.hive is not None:
            self.hive.close()


def connect(settings: Mapping[str, str]) -> Any:
    """Connect with PyHive; without a host only the log file is read."""
    return HiveConnection(settings)


def schemas(connection: Any) -> Iterator[dict[str, Any]]:
    """The databases of Hive."""
    if connection.hive is None:
        return
    for row in connection.rows("SHOW DATABASES"):
        yield {"database": row[0], "schema": row[0], "problem": None}


def tables(
    connection: Any, database: str, schema: str, only_volume: bool
) -> Iterator[dict[str, Any]]:
    """The tables of a database; DESCRIBE FORMATTED describes each."""
    from datetime import UTC, datetime

    def quoted(name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    for listed in connection.rows(f"SHOW TABLES IN {quoted(schema)}"):
        # Hive lists names; Spark lists namespace, name and whether it is temporary.
        name = listed[1] if len(listed) > 1 else listed[0]
        try:
            described = connection.rows(f"DESCRIBE FORMATTED {quoted(schema)}.{quoted(name)}")
        except Exception as error:
            yield {"name": name, "problem": str(error).splitlines()[0][:300]}
            continue
        columns: list[dict[str, Any]] = []
        facts: dict[str, str] = {}
        in_columns = True
        for row in described:
            first, second, third = (str(value or "").strip() for value in (*row, None, None)[:3])
            if first.startswith("#") and first.lower() != "# col_name":
                in_columns = False
            if in_columns and first and second and first.lower() != "# col_name":
                columns.append({"name": first, "type": second, "description": third or None})
            for key, value in ((first, second), (second, third)):
                if key and value:
                    facts.setdefault(key.rstrip(":").lower(), value)
        # Spark: `Statistics  1024 bytes, 10 rows`.
        statistics = facts.get("statistics", "")
        amounts: dict[str, str] = {}
        for part in statistics.split(","):
            amount, _, unit = part.strip().partition(" ")
            amounts[unit] = amount
        epoch = facts.get("transient_lastddltime") or facts.get("last_modified_time")
        # Spark: `[transient_lastDdlTime=1795037372]`.
        if epoch is None and "transient_lastDdlTime=" in facts.get("table properties", ""):
            rest = facts["table properties"].partition("transient_lastDdlTime=")[2]
            epoch = rest.partition(",")[0].rstrip("]")
        yield {
            "name": name,
            "kind": facts.get("table type") or facts.get("type"),
            "description": facts.get("comment"),
            "rows": facts.get("numrows") or amounts.get("rows"),
            "size": facts.get("totalsize") or amounts.get("bytes"),
            "updated": datetime.fromtimestamp(int(epoch), UTC)
            if epoch and epoch.isdigit()
            else None,
            "view_query": facts.get("view original text") or facts.get("view text"),
            "columns": [] if only_volume else columns,
        }


def queries(
    connection: Any, start: datetime, end: datetime, limit: int
) -> Iterator[dict[str, Any]]:
    """The queries of HiveServer2's log; a query ends where the next line with a time begins."""
    import re
    from datetime import UTC, datetime

    stamp = re.compile(r"^(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2})(?:[.,](\d{3}))?")
    begun = re.compile(r"(?:Executing|Starting) command\(queryId=([^)]+)\):\s?(.*)", re.S)
    user = re.compile(r"(?:ugi|user)=(\S+)")

    def entries() -> Iterator[tuple[datetime, str]]:
        if connection.log_file is None:
            raise ValueError("the setting log_file names the log of HiveServer2")
        at: datetime | None = None
        lines: list[str] = []
        with open(connection.log_file, encoding="utf-8", errors="replace") as log:
            for line in log:
                found = stamp.match(line)
                if found is None:
                    if sum(map(len, lines)) < 1_000_000:
                        lines.append(line)
                    continue
                if at is not None:
                    yield at, "".join(lines)
                at = datetime.fromisoformat(found[1].replace(" ", "T")).replace(tzinfo=UTC)
                at = at.replace(microsecond=int(found[2] or 0) * 1000)
                lines = [line[found.end() :]]
        if at is not None:
            yield at, "".join(lines)

    waiting: dict[str, Any] | None = None
    done: set[str] = set()
    who: str | None = None
    number = 0
    for at, text in entries():
        if waiting is not None:
            yield {**waiting, "ended": at}
            waiting = None
            number += 1
        if named := user.search(text):
            who = named[1]
        query = begun.search(text)
        if query is None or query[1] in done or not start <= at < end or number >= limit:
            continue
        done.add(query[1])
        waiting = {
            "query_id": query[1],
            "text": query[2].strip(),
            "started": at,
            "user": who,
            "schema": "default",
        }
    if waiting is not None:
        yield {**waiting, "ended": waiting["started"]}


def logs_hint(settings: Mapping[str, str]) -> str:
    """The command that fetches the log."""
    host = settings.get("host", "HOST")
    return (
        "The queries are read from a copy of HiveServer2's log; fetch it with: "
        f"scp {host}:/var/log/hive/hiveserver2.log ."
    )


hive = Collector(
    resource_type="data-lake",
    log_type="hive-s3",
    dialect="hive",
    extra="hive",
    packages=("pyhive[hive_pure_sasl]",),
    settings=(
        ConnectionSetting(name="host", doc="HiveServer2; without it only the log is read."),
        ConnectionSetting(name="port", doc="Its port.", default="10000"),
        ConnectionSetting(name="user", doc="The user."),
        ConnectionSetting(name="password", doc="Its password.", secret=True),
        ConnectionSetting(name="auth", doc="NONE, NOSASL, LDAP or KERBEROS.", default="NONE"),
        ConnectionSetting(name="log_file", doc="A copy of HiveServer2's log."),
    ),
    connect=connect,
    functions=WarehouseFunctions(schemas=schemas, tables=tables, queries=queries),
    logs_hint=logs_hint,
    lacks="Rows and sizes are those that ANALYZE stored. Times of the log are taken as UTC.",
)
