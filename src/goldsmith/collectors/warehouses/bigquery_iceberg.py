"""Iceberg tables of BigQuery (BigLake), which its list of tables does not show fully."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from goldsmith.collectors.collector import (
    Collector,
    ConnectionSetting,
    WarehouseFunctions,
)


def connect(settings: Mapping[str, str]) -> Any:
    """A client of google.cloud.bigquery whose queries run in the region of the tables."""
    from google.cloud import bigquery

    given: dict[str, Any] = {"project": settings["project"], "location": settings["region"]}
    if "key_file" in settings:
        return bigquery.Client.from_service_account_json(settings["key_file"], **given)
    return bigquery.Client(**given)


def schemas(connection: Any) -> Iterator[dict[str, Any]]:
    """The datasets with Iceberg tables."""
    region = str(connection.location).lower().replace("`", "")
    query = f"""
        SELECT DISTINCT table_schema
        FROM `region-{region}`.INFORMATION_SCHEMA.TABLE_STORAGE
        WHERE managed_table_type = 'BIGLAKE' AND deleted = FALSE ORDER BY table_schema
    """
    for row in connection.query(query).result():
        yield {"database": connection.project, "schema": row["table_schema"], "problem": None}


def tables(
    connection: Any, database: str, schema: str, only_volume: bool
) -> Iterator[dict[str, Any]]:
    """The Iceberg tables of a dataset."""
    from google.cloud import bigquery

    region = str(connection.location).lower().replace("`", "")
    within = bigquery.QueryJobConfig(
        query_parameters=[bigquery.ScalarQueryParameter("schema", "STRING", schema)]
    )
    columns: dict[str, list[dict[str, Any]]] = {}
    if not only_volume:
        query = f"""
            SELECT table_name, column_name, data_type
            FROM `region-{region}`.INFORMATION_SCHEMA.COLUMNS
            WHERE table_schema = @schema ORDER BY table_name, ordinal_position
        """
        for row in connection.query(query, job_config=within).result():
            columns.setdefault(row["table_name"], []).append(
                {"name": row["column_name"], "type": row["data_type"], "description": None}
            )
    query = f"""
        SELECT table_name, total_rows, current_physical_bytes, storage_last_modified_time,
            creation_time
        FROM `region-{region}`.INFORMATION_SCHEMA.TABLE_STORAGE
        WHERE table_schema = @schema AND managed_table_type = 'BIGLAKE' AND deleted = FALSE
        ORDER BY table_name
    """
    for row in connection.query(query, job_config=within).result():
        yield {
            "name": row["table_name"],
            "kind": "TABLE",
            "rows": row["total_rows"],
            "size": row["current_physical_bytes"],
            "updated": row["storage_last_modified_time"],
            "created_on": row["creation_time"],
            "columns": columns.get(row["table_name"], []),
        }


def queries(
    connection: Any, start: datetime, end: datetime, limit: int
) -> Iterator[dict[str, Any]]:
    """The query jobs of all users that were created in a window."""
    jobs = connection.list_jobs(
        all_users=True, min_creation_time=start, max_creation_time=end, max_results=limit
    )
    for job in jobs:
        if job.job_type != "query" or job.state != "DONE":
            continue
        error = job.error_result or {}
        yield {
            "query_id": job.job_id,
            "text": job.query,
            "started": job.started or job.created,
            "ended": job.ended,
            "user": job.user_email,
            "error_text": error.get("message"),
            "error_code": error.get("reason"),
            "database": job.project,
            "x_total_bytes_billed": job.total_bytes_billed,
            "x_statement_type": job.statement_type,
        }


bigquery_iceberg = Collector(
    resource_type="bigquery",
    log_type="bigquery",
    dialect="bigquery",
    extra="bigquery",
    packages=("google-cloud-bigquery",),
    settings=(
        ConnectionSetting(name="project", doc="The project.", required=True),
        ConnectionSetting(name="region", doc="The region of the tables: us, eu …", required=True),
        ConnectionSetting(name="key_file", doc="The JSON file of a service account."),
    ),
    connect=connect,
    functions=WarehouseFunctions(schemas=schemas, tables=tables, queries=queries),
    lacks="The answers in our tests are recorded.",
)
