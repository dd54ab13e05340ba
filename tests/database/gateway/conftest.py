"""A served gateway on each database, its two keys, and ways to push to it and ask it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from goldsmith.api.app import create_app
from goldsmith.gateway import keys
from goldsmith.gateway.process import process_waiting
from goldsmith.journal.gateway_tables import KeyScope
from goldsmith.journal.journal import Journal
from goldsmith.runtime import Runtime

UUID = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"


@dataclass
class Gateway:
    """The gateway and the headers of its keys."""

    client: TestClient
    runtime: Runtime
    ingestion: dict[str, str]
    graphql: dict[str, str]

    @property
    def journal(self) -> Journal:
        return self.runtime.journal

    def key(self, scope: KeyScope, **more: Any) -> dict[str, str]:
        row, secret = keys.create(self.journal, scope, description="test", created_by="ann", **more)
        return {"x-mcd-id": row.key_id, "x-mcd-token": secret}

    def push(self, path: str, body: Any, **more: Any) -> str:
        answer = self.client.post(f"/ingest/v1/{path}", json=body, headers=self.ingestion, **more)
        assert answer.status_code == 202, answer.text
        process_waiting(self.journal)
        return str(answer.json()["invocation_id"])

    def ask(self, document: str, headers: dict[str, str] | None = None, **given: Any) -> Any:
        answer = self.client.post(
            "/graphql",
            json={"query": document, "variables": given},
            headers=headers or self.graphql,
        )
        assert answer.status_code == 200, answer.text
        found = answer.json()
        assert "errors" not in found, found
        return found["data"]


@pytest.fixture
def runtime(catalog_url: str, tmp_path: Path) -> Iterator[Runtime]:
    (tmp_path / "goldsmith.toml").write_text("", encoding="utf-8")
    environ = {"GOLDSMITH_CATALOG__URL": catalog_url}
    opened = Runtime.of(environ, project=tmp_path, environment=None, cwd=tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def gateway(runtime: Runtime) -> Iterator[Gateway]:
    with TestClient(create_app(runtime), raise_server_exceptions=False) as client:
        made = Gateway(client=client, runtime=runtime, ingestion={}, graphql={})
        made.ingestion = made.key(KeyScope.INGESTION)
        made.graphql = made.key(KeyScope.GRAPHQL)
        yield made
