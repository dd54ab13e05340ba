"""A served lakehouse on each database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from goldsmith.api.app import create_app
from goldsmith.lakehouse import applications
from goldsmith.runtime import Runtime
from lakehouse_story import Lakehouse


@pytest.fixture
def runtime(catalog_url: str, tmp_path: Path) -> Iterator[Runtime]:
    (tmp_path / "goldsmith.toml").write_text("", encoding="utf-8")
    environ = {"GOLDSMITH_CATALOG__URL": catalog_url}
    opened = Runtime.of(environ, project=tmp_path, environment=None, cwd=tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def lakehouse(runtime: Runtime, tmp_path: Path) -> Iterator[Lakehouse]:
    applications.register(runtime.catalog, "redshift", actor="ann")
    folder = tmp_path / ".goldsmith" / "s3" / "lakehouse"
    with TestClient(
        create_app(runtime),
        base_url="http://127.0.0.1:8080",
        client=("127.0.0.1", 50_000),
        raise_server_exceptions=False,
    ) as client:
        yield Lakehouse(client=client, runtime=runtime, folder=folder)
