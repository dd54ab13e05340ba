"""Serve the API with uvicorn, in a thread beside the service's loop."""

from __future__ import annotations

import ipaddress
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from goldsmith.api.app import create_app
from goldsmith.errors import GoldsmithError
from goldsmith.journal import api_keys
from goldsmith.runtime import Runtime


@dataclass(eq=False, kw_only=True)
class NoKeysYet(GoldsmithError):
    """The API would be reachable from other machines, and no key exists."""

    host: str

    def __str__(self) -> str:
        return f"The API is not served on {self.host}: other machines reach it, and no key exists."

    @property
    def hint(self) -> str:
        return "`goldsmith keys create --role admin NAME` creates one; or serve on 127.0.0.1."


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """Where the API is served."""

    host: str = "127.0.0.1"
    port: int = 8080
    #: The path in front of every route, behind a proxy.
    base_path: str = ""
    certificate: Path | None = None
    private_key: Path | None = None

    @property
    def is_local(self) -> bool:
        """Only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def url(self) -> str:
        scheme = "http" if self.certificate is None else "https"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{self.port}{self.base_path}"


class ApiServer:
    """The API of one project, served by a thread."""

    def __init__(self, runtime: Runtime, address: Address) -> None:
        if not address.is_local and not api_keys.are_there_any(runtime.journal):
            raise NoKeysYet(host=address.host)
        config = uvicorn.Config(
            create_app(runtime, root_path=address.base_path),
            host=address.host,
            port=address.port,
            access_log=False,
            log_level="warning",
            server_header=False,
            ssl_certfile=address.certificate,
            ssl_keyfile=address.private_key,
            timeout_graceful_shutdown=3,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, name="api", daemon=True)

    def start(self) -> int:
        """Serve, and return the port once requests are answered."""
        self._thread.start()
        while not self._server.started:
            if not self._thread.is_alive():
                raise ApiNotStarted(port=int(self._server.config.port))
            time.sleep(0.02)
        sockets = [socket for server in self._server.servers for socket in server.sockets]
        port: int = sockets[0].getsockname()[1]
        return port

    def stop(self) -> None:
        """End the connections and the thread."""
        self._server.should_exit = True
        self._thread.join()


@dataclass(eq=False, kw_only=True)
class ApiNotStarted(GoldsmithError):
    """The API could not be served on its port."""

    port: int

    def __str__(self) -> str:
        return f"The API could not be served on port {self.port}."

    @property
    def hint(self) -> str:
        return "Another program may use the port: choose another with --port."
