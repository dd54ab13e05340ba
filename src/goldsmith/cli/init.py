"""`goldsmith init`: create a project with a small example pipeline."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import click

from goldsmith.cli.output import echo, json_option, show
from goldsmith.errors import BadRequest, GoldsmithError
from goldsmith.settings.defaults import catalog_url
from goldsmith.settings.project import FILE_NAME
from goldsmith.settings.settings import Settings

_NEXT = {
    "goldsmith apply catalog": "put the example's rows into the catalog",
    "goldsmith plan": "see what would run, and why",
    "goldsmith config show": "see every setting and where it came from",
}

_SAMPLE = """\
{"order_id": 1, "customer_id": 7, "amount": "19.90", "ordered_at": "2026-01-01T09:30:00Z"}
{"order_id": 2, "customer_id": 8, "amount": "5.00", "ordered_at": "2026-01-02T14:05:00Z"}
"""

_PIPELINES = """\
# A small pipeline: raw files → bronze → silver → gold. `goldsmith apply catalog` makes the
# catalog say this; `goldsmith plan` shows what would run, and why.
pipelines:
  - pipeline_id: orders_etl
    description: "Orders as they come in → revenue by day"
    enabled: true
    default_retry_id: std_retry

stages:
  # Bronze keeps what came, as it came: new files are appended.
  - pipeline_id: orders_etl
    stage_order: 1
    stage_name: bronze_ingest
    source_id: orders_raw
    target_id: bronze_orders
    validation_set_id: not_empty
    write_mode: append

  # Silver has one row an order: a corrected order replaces the older one.
  - pipeline_id: orders_etl
    stage_order: 2
    stage_name: silver_clean
    source_id: bronze_orders
    target_id: silver_orders
    validation_set_id: orders_have_ids
    write_mode: merge
    keys: [order_id]
    watermark_column: ordered_at
    transform_sql: |
      SELECT
        order_id,
        customer_id,
        CAST(amount AS DECIMAL(12, 2)) AS amount,
        CAST(ordered_at AS TIMESTAMP) AS ordered_at
      FROM bronze_orders

  # Gold is computed anew from all of silver.
  - pipeline_id: orders_etl
    stage_order: 3
    stage_name: gold_daily
    source_id: silver_orders
    target_id: daily_orders
    validation_set_id: row_count_gt0
    write_mode: overwrite
    transform_sql: |
      SELECT
        DATE(ordered_at) AS order_date,
        COUNT(*) AS orders,
        SUM(amount) AS revenue
      FROM silver_orders
      GROUP BY DATE(ordered_at)

sources:
  # Here s3://company/ is .goldsmith/s3/company/; in production it is what it says.
  - source_id: orders_raw
    s3_path: "s3://company/raw/orders/"
    file_format: jsonl
    declared_schema: "order_id BIGINT, customer_id BIGINT, amount STRING, ordered_at STRING"

targets:
  - target_id: bronze_orders
    location: "s3://company/bronze/orders/"
    type: s3
  - target_id: silver_orders
    location: "s3://company/silver/orders/"
    type: s3
  # Here `redshift` is .goldsmith/warehouse.duckdb.
  - target_id: daily_orders
    location: analytics.daily_orders
    type: redshift

validation_rules:
  - rule_set_id: orders_have_ids
    description: "Every order has an id of its own"
    check_def:
      - type: not_null
        column: order_id
"""


@dataclass(eq=False, kw_only=True)
class ProjectExists(GoldsmithError):
    """The folder already contains a project."""

    folder: str

    def __str__(self) -> str:
        return f"There is a project in {self.folder} already."

    @property
    def hint(self) -> str:
        return "Nothing was changed. Name another folder, or work in that one."


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", help="The project's name. Default: the folder's name.")
@json_option
def init(folder: Path, name: str | None, as_json: bool) -> None:
    """Create a project in DIR, with a small example pipeline and two rows of data."""
    project = Path(os.path.abspath(folder.expanduser()))
    if (project / FILE_NAME).exists():
        raise ProjectExists(folder=str(project))
    called = name or project.name or "goldsmith"
    try:
        made = _make(project, called)
    except OSError as error:
        raise BadRequest(
            sentence=f"No project can be made in {project}: {error.strerror or error}.",
            advice="Name a folder that you may write to.",
        ) from error
    answer = {"project": str(project), "name": called, "made": made, "next": list(_NEXT)}

    def text() -> None:
        echo(f"Made the project '{called}' in {project}: {', '.join(made)}.")
        echo("Next:")
        echo(f"  {f'cd {folder}':24} go there")
        for command, does in _NEXT.items():
            echo(f"  {command:24} {does}")

    show(as_json, answer, text)


def _make(project: Path, name: str) -> list[str]:
    """Write the missing files, goldsmith.toml last: without it the folder is not a project."""
    made = [
        _write(project, "catalog/pipelines.yaml", _PIPELINES),
        _write(project, ".goldsmith/s3/company/raw/orders/2026-01-01.jsonl", _SAMPLE),
        _ignore(project),
    ]
    from goldsmith.catalog.catalog import Catalog

    # Environment variables are ignored: a new project must not migrate a catalog in use.
    Catalog.open(catalog_url(project), create=True).close()
    made += [".goldsmith/catalog.db", _write(project, FILE_NAME, Settings.default_toml(name))]
    return [path for path in made if path]


def _write(project: Path, name: str, text: str) -> str:
    file = project / name
    if file.exists():
        return ""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return name


def _ignore(project: Path) -> str:
    file = project / ".gitignore"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    if ".goldsmith/" in lines:
        return ""
    file.write_text("\n".join([*lines, ".goldsmith/", ""]), encoding="utf-8")
    return file.name
