"""A door before an S3 server: it hands requests on, or answers them as S3 does on a bad day."""

from __future__ import annotations

import contextlib
import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_REASONS = {
    "SlowDown": (503, "Please reduce your request rate."),
    "ExpiredToken": (400, "The provided token has expired."),
}
_HOP = frozenset(("connection", "transfer-encoding", "content-length", "host", "date", "server"))


class Door:
    """What it says to whom."""

    def __init__(self) -> None:
        self.endpoint = ""
        #: The S3 error every request gets, unless it is signed with a key that is let in.
        self.says: str | None = None
        self.lets_in: str | None = None
        self.refused = 0

    def answer(self, signed: str) -> tuple[int, bytes] | None:
        """What it says to a request itself; None where that is handed on."""
        if self.says is None or (self.lets_in is not None and f"={self.lets_in}/" in signed):
            return None
        self.refused += 1
        status, message = _REASONS[self.says]
        return (
            status,
            f"<Error><Code>{self.says}</Code><Message>{message}</Message></Error>".encode(),
        )


@contextlib.contextmanager
def before(endpoint: str) -> Iterator[Door]:
    """Put a door before a server."""
    door, behind = Door(), urlsplit(endpoint)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            refusal = door.answer(self.headers.get("Authorization", ""))
            if refusal is not None:
                self._send(refusal[0], {"Content-Type": "application/xml"}, refusal[1])
                return
            connection = http.client.HTTPConnection(str(behind.hostname), behind.port)
            with contextlib.closing(connection):
                kept = {n: v for n, v in self.headers.items() if n.lower() not in _HOP}
                connection.request(self.command, self.path, body, kept)
                answer = connection.getresponse()
                headers = {n: v for n, v in answer.getheaders() if n.lower() not in _HOP}
                length = answer.getheader("Content-Length")
                self._send(answer.status, headers, answer.read(), length)

        do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815

        def _send(
            self, status: int, headers: dict[str, str], body: bytes, length: str | None = None
        ) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            is_head = self.command == "HEAD"
            self.send_header("Content-Length", (length or "0") if is_head else str(len(body)))
            self.end_headers()
            if not is_head:
                self.wfile.write(body)

        def log_message(self, *_said: object) -> None:
            """Not into the test's output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    door.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield door
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
