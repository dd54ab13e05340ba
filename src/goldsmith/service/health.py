"""`/healthz` and `/readyz` on a port of their own, for systemd, Kubernetes and load balancers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from goldsmith.errors import GoldsmithError

#: What a probe answers: whether it holds, and facts about it.
Probe = Callable[[], tuple[bool, dict[str, Any]]]


@dataclass(eq=False, kw_only=True)
class PortTaken(GoldsmithError):
    """The probes cannot listen at this host and port."""

    host: str
    port: int
    cause: str

    def __str__(self) -> str:
        return f"The probes cannot listen at {self.host}:{self.port}: {self.cause}."

    @property
    def hint(self) -> str:
        return "Give another --probe-port, or 0 for any free one; another service may run here."


class HealthServer:
    """Answers probes while the context is open."""

    def __init__(self, host: str, port: int, *, healthy: Probe, ready: Probe) -> None:
        probes = {"/healthz": healthy, "/readyz": ready}

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                probe = probes.get(self.path)
                if probe is None:
                    self._answer(404, {"error": "there are /healthz and /readyz"})
                    return
                holds, facts = probe()
                self._answer(200 if holds else 503, {"ok": holds, **facts})

            def _answer(self, status: int, body: dict[str, Any]) -> None:
                text = json.dumps(body, default=str).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, format: str, *args: Any) -> None:
                """Probes come every few seconds: they are not logged."""

        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except (OSError, OverflowError) as error:
            raise PortTaken(host=host, port=port, cause=str(error)) from error
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="health", daemon=True
        )

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def __enter__(self) -> HealthServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
