"""Send HTTP requests; a redirect never sends our headers and body to another host."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPMessage
from typing import IO
from urllib.parse import urlsplit

_AGAIN = frozenset((301, 302, 307, 308))


def post(url: str, body: bytes, headers: Mapping[str, str], *, seconds: float, most: int) -> bytes:
    """Post a body; return at most `most` bytes of the answer. Raises OSError or ValueError."""
    request = urllib.request.Request(
        url, data=body, headers={"Content-Type": "application/json", **headers}
    )
    return _ask(request, seconds, most)


def get(url: str, headers: Mapping[str, str], *, seconds: float) -> None:
    """Check that an address answers. Raises OSError or ValueError."""
    _ask(urllib.request.Request(url, headers=dict(headers)), seconds, most=0)


def _ask(request: urllib.request.Request, seconds: float, most: int) -> bytes:
    with urllib.request.build_opener(_SameHost).open(request, timeout=seconds) as answer:
        read: bytes = answer.read(most)
        return read


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follow a redirect with the same request, to the same scheme, host and port only.

    By default urllib sends the headers to any host, and turns a POST into a GET without body.
    """

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request:
        if _origin(newurl) != _origin(req.full_url):
            where = f"it redirects to another host, {urlsplit(newurl).hostname}"
            fp.close()
            raise urllib.error.HTTPError(req.full_url, code, where, headers, None)
        if req.data is not None and code not in _AGAIN:
            fp.close()
            raise urllib.error.HTTPError(req.full_url, code, msg, headers, None)
        return urllib.request.Request(newurl, data=req.data, headers=dict(req.header_items()))


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, parts.port or usual
