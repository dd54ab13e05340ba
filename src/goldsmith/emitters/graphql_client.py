"""Ask a receiver by GraphQL what became of a push, and change its lineage."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from goldsmith.credentials import Secret
from goldsmith.emitters import documents
from goldsmith.emitters.receiver import WAITS, request
from goldsmith.errors import GoldsmithError

GRAPHQL_ENDPOINT = "https://api.getmontecarlo.com/graphql"


@dataclass(eq=False, kw_only=True)
class GraphqlRefused(GoldsmithError):
    """The receiver answered a GraphQL request with errors."""

    problem: str
    exit_code = 1

    def __str__(self) -> str:
        return f"The receiver refused the GraphQL request: {self.problem}"

    @property
    def hint(self) -> str:
        return "Check MCD_ID and MCD_TOKEN: they are a GraphQL key, not the Ingestion key."


@dataclass(kw_only=True)
class GraphqlClient:
    """Sends GraphQL documents with one key."""

    key_id: str
    token: Secret
    endpoint: str = GRAPHQL_ENDPOINT
    waits: tuple[float, ...] = WAITS
    sleep: Callable[[float], None] | None = None
    _account: str | None = None

    @property
    def url(self) -> str:
        """The endpoint; an address without a path gets `/graphql`."""
        has_path = urlsplit(self.endpoint).path not in ("", "/")
        return self.endpoint if has_path else urljoin(self.endpoint, "/graphql")

    def ask(self, document: str, **variables: Any) -> dict[str, Any]:
        """The data of an answer; raises GraphqlRefused."""
        body = json.dumps({"query": document, "variables": variables}).encode()
        headers = {"x-mcd-id": self.key_id, "x-mcd-token": self.token.reveal()}
        more: dict[str, Any] = {} if self.sleep is None else {"sleep": self.sleep}
        found = request(self.url, body, headers, waits=self.waits, **more)
        if not isinstance(found, dict) or found.get("errors"):
            errors = found.get("errors") if isinstance(found, dict) else None
            first = errors[0] if isinstance(errors, list) and errors else "no answer"
            problem = first.get("message") if isinstance(first, dict) else first
            raise GraphqlRefused(problem=str(problem)[:500])
        data = found.get("data")
        return data if isinstance(data, dict) else {}

    def mcon(self, resource_uuid: str, table_id: str) -> str:
        """The MCON of a table."""
        if self._account is None:
            user = self.ask(documents.USER).get("getUser") or {}
            self._account = str((user.get("account") or {}).get("uuid"))
        return "++".join(("MCON", self._account, resource_uuid, "table", table_id))
