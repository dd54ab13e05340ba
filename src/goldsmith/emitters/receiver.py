"""A receiver of pushes, by plain HTTP or by Monte Carlo's own client: the bodies are the same."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urljoin

from goldsmith import http_client
from goldsmith.assets.items import Flow
from goldsmith.credentials import Secret, library
from goldsmith.errors import GoldsmithError

#: Where Monte Carlo takes pushes.
INGEST_ENDPOINT = "https://integrations.getmontecarlo.com"
SECONDS = 10.0
_LARGEST_ANSWER = 1_000_000
#: Waits before a further try of a request that may succeed later.
WAITS = (0.5, 2.0, 5.0)


@dataclass(eq=False, kw_only=True)
class PushRefused(GoldsmithError):
    """The receiver refused a request; the same request would be refused again."""

    status: int
    answer: str
    exit_code = 1

    def __str__(self) -> str:
        return f"The receiver refused the request with {self.status}: {self.answer}"

    @property
    def hint(self) -> str:
        return {
            400: "The body or its type is wrong; for query logs check the log_type.",
            401: "The key is unknown, revoked or expired: check MCD_INGEST_ID and its token.",
            403: "The key may not push for this resource, or it is no Ingestion key.",
            413: "The body is too large: use a smaller --batch-size.",
        }.get(self.status, "Read the answer; the batches that arrived are not sent twice.")


@dataclass(eq=False, kw_only=True)
class ReceiverUnreachable(GoldsmithError):
    """The receiver did not answer."""

    url: str
    because: str
    transient = True
    exit_code = 1

    def __str__(self) -> str:
        return f"{self.url} did not answer: {self.because}."

    @property
    def hint(self) -> str:
        return "Push the same manifest again later: batches that arrived are not sent twice."


class Receiver(Protocol):
    """Takes the bodies of a push."""

    @property
    def address(self) -> str:
        """Its address without a path."""

    def send(self, flow: Flow, body: bytes) -> str | None:
        """Send one body; returns the invocation id. Raises PushRefused or ReceiverUnreachable."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpReceiver:
    """Sends with plain HTTP; tries again what may succeed later, always with the same body."""

    key_id: str
    token: Secret
    endpoint: str = INGEST_ENDPOINT
    waits: tuple[float, ...] = WAITS
    sleep: Callable[[float], None] = time.sleep

    @property
    def address(self) -> str:
        return urljoin(self.endpoint, "/").rstrip("/")

    def send(self, flow: Flow, body: bytes) -> str | None:
        headers = {"x-mcd-id": self.key_id, "x-mcd-token": self.token.reveal()}
        url = urljoin(self.endpoint, f"/ingest/v1/{flow.path}")
        answer = request(url, body, headers, waits=self.waits, sleep=self.sleep)
        found = answer.get("invocation_id") if isinstance(answer, dict) else None
        return found if isinstance(found, str) else None


@dataclass(frozen=True, kw_only=True)
class PycarloReceiver:
    """Sends with pycarlo; one session for each thread, without its nine tries."""

    key_id: str
    token: Secret
    endpoint: str = INGEST_ENDPOINT
    waits: tuple[float, ...] = WAITS
    sleep: Callable[[float], None] = time.sleep
    _local: threading.local = field(default_factory=threading.local, repr=False)

    @property
    def address(self) -> str:
        return urljoin(self.endpoint, "/").rstrip("/")

    def send(self, flow: Flow, body: bytes) -> str | None:
        requests = library("requests", extra="push")
        content = json.loads(body)
        last: Exception | None = None
        for wait in (0.0, *self.waits):
            self.sleep(wait)
            try:
                answer = self._client().make_request(
                    path=f"/ingest/v1/{flow.path}",
                    method="POST",
                    body=content,
                    timeout_in_seconds=int(SECONDS),
                    should_retry=lambda _error: False,
                )
            except requests.HTTPError as error:
                status = error.response.status_code
                if not _may_pass(status):
                    raise PushRefused(status=status, answer=error.response.text[:500]) from None
                last = error
            except (requests.ConnectionError, requests.Timeout) as error:
                last = error
            else:
                found = answer.get("invocation_id") if isinstance(answer, dict) else None
                return found if isinstance(found, str) else None
        raise ReceiverUnreachable(url=self.address, because=type(last).__name__)

    def _client(self) -> Any:
        if not hasattr(self._local, "client"):
            pycarlo = library("pycarlo.core", extra="push")
            session = pycarlo.Session(
                mcd_id=self.key_id,
                mcd_token=self.token.reveal(),
                scope="Ingestion",
                endpoint=self.endpoint,
            )
            self._local.client = pycarlo.Client(session=session)
        return self._local.client


def request(
    url: str,
    body: bytes,
    headers: dict[str, str],
    *,
    waits: tuple[float, ...] = WAITS,
    sleep: Callable[[float], None] = time.sleep,
) -> Any:
    """Post JSON and return the JSON of the answer; a refusal is not tried again."""
    because = ""
    for wait in (0.0, *waits):
        sleep(wait)
        try:
            answer = http_client.post(url, body, headers, seconds=SECONDS, most=_LARGEST_ANSWER)
        except urllib.error.HTTPError as error:
            with error:
                text = error.read(500).decode("utf-8", "replace") if error.fp else str(error.reason)
            if not _may_pass(error.code):
                raise PushRefused(status=error.code, answer=text) from None
            because = f"{error.code} {text}"
        except (OSError, ValueError) as error:
            because = str(getattr(error, "reason", None) or error)
        else:
            try:
                return json.loads(answer) if answer else None
            except ValueError:
                raise ReceiverUnreachable(url=url, because="its answer is not JSON") from None
    raise ReceiverUnreachable(url=url, because=because)


def _may_pass(status: int) -> bool:
    return status >= 500 or status in (408, 429)
