"""A stand-in for Redshift: a wire proxy before a real PostgreSQL, for the real redshift_connector.

What it has of Redshift: COPY and UNLOAD of Parquet in S3, CANCEL, SUPER, names folded to lower
case, table attributes, the views of load errors and locks; and it refuses what Redshift refuses.
It has none of its speed, its distribution or its serializable isolation.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg

from servers import redshift_sql as sql
from servers.redshift_files import copy_batches, unload_table
from servers.s3 import S3

#: What the driver says of itself, and PostgreSQL does not know.
_NOT_FOR_POSTGRES = {
    b"client_protocol_version",
    b"driver_version",
    b"os_version",
    b"driver_discovery_version",
    b"plugin_name",
}
_SSL_REQUEST, _GSS_REQUEST, _CANCEL_REQUEST = 80877103, 80877104, 80877102
_JSONB, _JSON, _SUPER = 3802, 114, 4000


class Gone(Exception):
    """One side closed the connection."""


@dataclass
class Answer:
    """What the backend said to one statement of the proxy's own."""

    description: bytes | None = None
    copied: list[bytes] = field(default_factory=list)
    tag: bytes = b""
    error: bytes | None = None
    ready: bytes = b"I"


@dataclass(frozen=True, kw_only=True)
class Redshift:
    """A running stand-in; statements go to one database of the PostgreSQL behind it."""

    port: int
    postgres: str
    s3: S3

    def prepare(self) -> None:
        """Make the views and functions that Redshift has in every database."""
        with psycopg.connect(self.postgres, autocommit=True) as connection:
            connection.execute(sql.OWN_THINGS)


@contextlib.contextmanager
def running(postgres: str, s3: S3) -> Iterator[Redshift]:
    """Stand before the PostgreSQL database at a URL, with the files of an S3."""
    behind = psycopg.conninfo.conninfo_to_dict(postgres)
    listener = socket.create_server(("127.0.0.1", 0))
    server = Redshift(port=listener.getsockname()[1], postgres=postgres, s3=s3)
    server.prepare()
    address = (str(behind["host"]), int(str(behind["port"])))
    accepting = threading.Thread(target=_accept, args=(listener, server, address), daemon=True)
    accepting.start()
    try:
        yield server
    finally:
        # Closing alone would leave the other thread in accept().
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join()
        listener.close()


def _accept(listener: socket.socket, server: Redshift, behind: tuple[str, int]) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_serve, args=(client, server, behind), daemon=True).start()


def _serve(client: socket.socket, server: Redshift, behind: tuple[str, int]) -> None:
    backend = socket.create_connection(behind)
    for side in (client, backend):
        # Small packets both ways: 94 ms a statement without.
        side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with client, backend, contextlib.suppress(Gone, OSError):
        session = Session(client, backend, server)
        if session.start():
            session.talk()


class Session:
    """One client and its own backend."""

    def __init__(self, client: socket.socket, backend: socket.socket, server: Redshift) -> None:
        self._client, self._backend, self._server = client, backend, server
        #: Prepared statements that the proxy carries out itself, by name.
        self._own: dict[bytes, str] = {}
        self._bound: str | None = None
        self._status = b"I"
        self._pid = 0

    def start(self) -> bool:
        """Pass the start-up message on; False for a message that only cancels."""
        while True:
            size, code = struct.unpack("!II", _read(self._client, 8))
            rest = _read(self._client, size - 8)
            if code in (_SSL_REQUEST, _GSS_REQUEST):
                self._client.sendall(b"N")
                continue
            if code == _CANCEL_REQUEST:
                self._backend.sendall(struct.pack("!II", size, code) + rest)
                return False
            parameters = rest.rstrip(b"\0").split(b"\0")
            pairs = zip(parameters[::2], parameters[1::2], strict=False)
            kept = b"".join(k + b"\0" + v + b"\0" for k, v in pairs if k not in _NOT_FOR_POSTGRES)
            body = struct.pack("!I", code) + kept + b"\0"
            self._backend.sendall(struct.pack("!I", len(body) + 4) + body)
            return True

    def talk(self) -> None:
        while True:
            ready, _, _ = select.select([self._client, self._backend], [], [])
            for side in ready:
                kind, body = _message(side)
                if side is self._client:
                    self._from_client(kind, body)
                else:
                    self._from_backend(kind, body)

    def _from_backend(self, kind: bytes, body: bytes) -> None:
        match kind:
            case b"S" if body.startswith(b"server_version\0"):
                # The driver reads it as a version of Python's kind.
                body = b"server_version\x008.0.2\0"
            case b"K":
                self._pid = struct.unpack("!I", body[:4])[0]
            case b"Z":
                self._status = body
            case b"T":
                body = _with_super(body)
        _send(self._client, kind, body)

    def _from_client(self, kind: bytes, body: bytes) -> None:
        match kind:
            case b"Q":
                text = body[:-1].decode()
                if sql.is_own(text):
                    self._carry_out(text)
                    return
                body = self._rewritten(text).encode() + b"\0"
            case b"P":
                name, query, types = body.split(b"\0", 2)
                text = query.decode()
                self._own.pop(name, None)
                if sql.is_own(text):
                    self._own[name] = text
                    text = "DO ''"  # is described as giving no rows, as COPY would be
                else:
                    text = self._rewritten(text)
                body = name + b"\0" + text.encode() + b"\0" + types
            case b"B":
                _portal, statement, _ = body.split(b"\0", 2)
                if statement in self._own:
                    self._bound = self._own[statement]
                    return
            case b"E" | b"D" if self._bound is not None:
                return
            case b"S" if self._bound is not None:
                text, self._bound = self._bound, None
                _send(self._client, b"2", b"")
                self._carry_out(text)
                return
        _send(self._backend, kind, body)

    def _rewritten(self, text: str) -> str:
        return sql.rewritten(text, in_transaction=self._status != b"I")

    def _carry_out(self, text: str) -> None:
        """COPY or UNLOAD, on the client's own backend and in its transaction."""
        try:
            answer = self._copy(text) if sql.COPY.match(text) else self._unload(text)
        except (OSError, ValueError, KeyError) as error:
            answer = self._fail("XX000", f"{type(error).__name__}: {error}")
        if answer.error is not None:
            _send(self._client, b"E", answer.error)
        else:
            _send(self._client, b"C", answer.tag)
        _send(self._client, b"Z", answer.ready)
        self._status = answer.ready

    def _copy(self, text: str) -> Answer:
        match = sql.COPY.match(text)
        assert match is not None
        table, address, options = (
            sql.folded(match["table"]),
            match["address"],
            match["options"],
        )
        if problem := sql.copy_problem(options):
            return self._fail("42601", problem)
        described = self._ask(f"SELECT * FROM {table} LIMIT 0")
        if described.error is not None:
            return described
        width = len(sql.described(described.description or b""))
        answer = described
        for path, batches in copy_batches(self._server.s3, address, options, width):
            answer = self._ask(f"COPY {table} FROM STDIN (FORMAT csv)", batches)
            if answer.error is not None:
                self._keep_load_error(path, answer.error)
                return answer
        return Answer(tag=b"COPY\0", ready=answer.ready)

    def _unload(self, text: str) -> Answer:
        match = sql.UNLOAD.match(text)
        assert match is not None
        query = sql.rewritten(match["query"].replace("''", "'"))
        described = self._ask(f"SELECT * FROM ({query}) AS q LIMIT 0")
        if described.error is not None:
            return described
        columns = sql.described(described.description or b"")
        answer = self._ask(f"COPY ({query}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)")
        if answer.error is None:
            rows = b"".join(answer.copied)
            unload_table(self._server.s3, match["address"], match["options"], columns, rows)
            answer.tag = b"UNLOAD\0"
        return answer

    def _ask(self, text: str, rows: Iterable[bytes] = ()) -> Answer:
        """Carry a statement out on the backend, and keep what it answers."""
        _send(self._backend, b"Q", text.encode() + b"\0")
        answer = Answer()
        while True:
            kind, body = _message(self._backend)
            match kind:
                case b"G":
                    for chunk in rows:
                        _send(self._backend, b"d", chunk)
                    _send(self._backend, b"c", b"")
                case b"d":
                    answer.copied.append(body)
                case b"T":
                    answer.description = body
                case b"C":
                    answer.tag = body
                case b"E":
                    answer.error = body
                    if b"FATAL" in body[:8]:
                        _send(self._client, b"E", body)
                        raise Gone
                case b"Z":
                    answer.ready = body
                    return answer

    def _fail(self, state: str, says: str) -> Answer:
        """An error that the backend raises itself, so that its transaction really aborts."""
        return self._ask(sql.raising(state, says))

    def _keep_load_error(self, path: str, error: bytes) -> None:
        """Write a load error down where a rollback does not undo it."""
        line, column, reason = sql.load_error(error)
        with psycopg.connect(self._server.postgres, autocommit=True) as connection:
            connection.execute(
                "INSERT INTO redshift_system.load_errors "
                "(session, filename, line_number, colname, err_reason) VALUES (%s, %s, %s, %s, %s)",
                (self._pid, f"s3://{path}", line, column, reason),
            )


def _read(side: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = side.recv(size - len(parts))
        if not part:
            raise Gone
        parts += part
    return bytes(parts)


def _message(side: socket.socket) -> tuple[bytes, bytes]:
    head = _read(side, 5)
    return head[:1], _read(side, struct.unpack("!I", head[1:])[0] - 4)


def _send(side: socket.socket, kind: bytes, body: bytes) -> None:
    side.sendall(kind + struct.pack("!I", len(body) + 4) + body)


def _with_super(body: bytes) -> bytes:
    """A description of rows in which JSON is called SUPER."""
    changed: Any = bytearray(body)
    for at, oid in sql.type_places(body):
        if oid in (_JSONB, _JSON):
            changed[at : at + 4] = struct.pack("!I", _SUPER)
    return bytes(changed)
