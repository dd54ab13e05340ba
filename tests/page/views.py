"""The views of the page, each with what it shows of the demo."""

from __future__ import annotations

VIEWS = (
    "now",
    "pipelines",
    "pipelines/orders_etl",
    "pipelines/orders_etl?tab=Stages",
    "pipelines/orders_etl?tab=Rows",
    "pipelines/orders_etl?tab=History",
    "runs",
    "datasets",
    "datasets/silver_orders",
    "datasets/silver_orders?tab=Snapshots",
    "datasets/silver_orders?tab=Checks",
    "datasets/bronze_user_events?tab=Quarantine",
    "datasets/silver_orders?tab=Sample",
    "lineage",
    "lineage/silver_orders",
    "control",
    "incidents",
    "catalog",
    "catalog?tab=Findings",
    "catalog/stages",
    "checks",
    "healing",
    "audit",
    "settings",
)
