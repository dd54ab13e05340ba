"""A served project with the shop's pipelines, on each database, and callers of each role."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from goldsmith.api.app import create_app
from goldsmith.catalog import bundle
from goldsmith.journal import api_keys
from goldsmith.journal.access_tables import Role
from goldsmith.planning import apply_files
from goldsmith.runtime import Runtime

CATALOG = """
pipelines:
  - {pipeline_id: orders, owner: ann@example.com, tags: [finance], sla_minutes: 60}
  - {pipeline_id: visits, owner: bob@example.com}
sources:
  - {source_id: raw_orders, s3_path: "s3://shop/raw/orders/", file_format: jsonl}
  - {source_id: raw_visits, s3_path: "s3://shop/raw/visits/", file_format: csv}
targets:
  - {target_id: bronze_orders, location: "s3://shop/bronze/orders/", type: s3}
  - {target_id: gold_orders, location: analytics.orders, type: redshift}
  - {target_id: bronze_visits, location: "s3://shop/bronze/visits/", type: s3}
stages:
  - {pipeline_id: orders, stage_order: 1, source_id: raw_orders, target_id: bronze_orders}
  - {pipeline_id: orders, stage_order: 2, source_id: bronze_orders, target_id: gold_orders}
  - {pipeline_id: visits, stage_order: 1, source_id: raw_visits, target_id: bronze_visits}
"""

Connect = Callable[..., TestClient]


@pytest.fixture
def runtime(catalog_url: str, tmp_path: Path) -> Iterator[Runtime]:
    (tmp_path / "goldsmith.toml").write_text("", encoding="utf-8")
    environ = {"GOLDSMITH_CATALOG__URL": catalog_url}
    opened = Runtime.of(environ, project=tmp_path, environment=None, cwd=tmp_path)
    rows = bundle.load([("catalog.yaml", CATALOG)])
    proposal = apply_files.propose(opened.catalog_indexer, rows)
    apply_files.apply(opened.catalog_indexer, rows, proposal, actor="test", reason="the shop")
    yield opened
    opened.close()


@pytest.fixture
def connect(runtime: Runtime) -> Iterator[Connect]:
    """Make a client with a new key: of a role, or limited to some pipelines."""
    app = create_app(runtime)
    with TestClient(app, raise_server_exceptions=False) as anonymous:

        def client(role: Role | None = Role.ADMIN, *, only: tuple[str, ...] = ()) -> TestClient:
            made = TestClient(app, raise_server_exceptions=False)
            made.portal = anonymous.portal
            if role is not None:
                owner = f"{role.value}@example.com"
                _row, secret = api_keys.create(
                    runtime.journal, owner=owner, role=role, limited_to=only, created_by="test"
                )
                made.headers["Authorization"] = f"Bearer {secret}"
            return made

        yield client
