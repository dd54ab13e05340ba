"""BigQuery: the client's own API for tables, its jobs for queries; the project is the database."""

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
    """A client of google.cloud.bigquery, with a key file or the machine's own credentials."""
    from google.cloud import bigquery

    if "key_file" in settings:
        return bigquery.Client.from_service_account_json(
            settings["key_file"], project=settings["project"]
        )
    return bigquery.Client(project=settings["project"])


def schemas(connection: Any) -> Iterator[dict[str, Any]]:
    """The datasets of the project."""
    for found in connection.list_datasets():
        yield {"database": connection.project, "schema": found.dataset_id, "problem": None}


def tables(
    connection: Any, database: str, schema: str, only_volume: bool
) -> Iterator[dict[str, Any]]:
    """The tables of a dataset; each is one request."""
    for listed in connection.list_tables(f"{database}.{schema}"):
        try:
            found = connection.get_table(listed.reference)
        except Exception as error:  # it was dropped meanwhile, or may not be read
            yield {"name": listed.table_id, "problem": str(error).splitlines()[0]}
            continue
        columns = [
            {"name": field.name, "type": field.field_type, "description": field.description}
            for field in (() if only_volume else found.schema)
        ]
        yield {
            "name": found.table_id,
            "kind": found.table_type,
            "description": found.description,
            "rows": found.num_rows,
            "size": found.num_bytes,
            "updated": found.modified,
            "created_on": found.created,
            "view_query": found.view_query,
            "columns": columns,
            "tags": [
                {"key": key, "value": value} for key, value in sorted(dict(found.labels).items())
            ],
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
        default = job.default_dataset
        yield {
            "query_id": job.job_id,
            "text": job.query,
            "started": job.started or job.created,
            "ended": job.ended,
            "user": job.user_email,
            "error_text": error.get("message"),
            "error_code": error.get("reason"),
            "database": job.project,
            "schema": None if default is None else default.dataset_id,
            "x_total_bytes_billed": job.total_bytes_billed,
            "x_statement_type": job.statement_type,
        }


bigquery = Collector(
    resource_type="bigquery",
    log_type="bigquery",
    dialect="bigquery",
    extra="bigquery",
    packages=("google-cloud-bigquery",),
    settings=(
        ConnectionSetting(name="project", doc="The project.", required=True),
        ConnectionSetting(name="key_file", doc="The JSON file of a service account."),
    ),
    connect=connect,
    functions=WarehouseFunctions(schemas=schemas, tables=tables, queries=queries),
    lacks="The answers in our tests are recorded.",
)
