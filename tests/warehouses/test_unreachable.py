"""A warehouse that is shut, busy or gone says so in a word that healing knows."""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from goldsmith.engine.warehouses.answers import LoadCancelled, failure
from goldsmith.engine.warehouses.duckdb.warehouse import EmbeddedWarehouse
from goldsmith.engine.warehouses.open import open_warehouse
from goldsmith.engine.warehouses.server import ServerWarehouse
from goldsmith.engine.warehouses.warehouse import (
    LoadRefused,
    WarehouseBusy,
    WarehouseUnreachable,
)
from goldsmith.errors import GoldsmithError
from goldsmith.storage.storage import Storage
from warehouses.bench import Bench, again, nowhere

ITEMS = {"id": "bigint", "name": "string"}
_HOLDER = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def held(duckdb: Bench) -> Iterator[subprocess.Popen[str]]:
    """Another process has the file open until its input ends."""
    duckdb.load(duckdb.table(), [], ITEMS)
    file = str(duckdb.storage.settings.warehouses["duckdb"].path)
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        yield holder
        if holder.stdin is not None and not holder.stdin.closed:
            holder.stdin.close()


def embedded(bench: Bench, wait_seconds: float) -> EmbeddedWarehouse:
    settings = bench.storage.settings.warehouses["duckdb"]
    return EmbeddedWarehouse(bench.storage, settings, wait_seconds=wait_seconds)


def test_a_file_that_is_taken_is_busy(duckdb: Bench, held: subprocess.Popen[str]) -> None:
    warehouse, order = embedded(duckdb, 0), duckdb.order(duckdb.table(), [(1, "a")], ITEMS)
    for ask in (
        lambda: warehouse.load(order, nowhere),
        lambda: warehouse.columns(order.location),
        lambda: warehouse.loaded(order.location, order.stage_run_id),
    ):
        with pytest.raises(WarehouseBusy, match=r"warehouse\.duckdb") as busy:
            ask()
        assert busy.value.transient


def test_a_load_waits_for_the_file_and_says_so_once(
    duckdb: Bench, held: subprocess.Popen[str], caplog: pytest.LogCaptureFixture
) -> None:
    class Release(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            assert held.stdin is not None
            held.stdin.close()

    logger, release = logging.getLogger("goldsmith.engine.warehouses.duckdb.warehouse"), Release()
    logger.addHandler(release)
    try:
        order = duckdb.order(duckdb.table(), [(1, "a")], ITEMS)
        assert embedded(duckdb, 60).load(order, nowhere).rows == 1
    finally:
        logger.removeHandler(release)
    messages = [record for record in caplog.records if "Waiting for" in record.getMessage()]
    assert len(messages) == 1


def test_a_file_that_is_no_database_is_not_waited_for(
    make_places: Callable[..., Storage],
) -> None:
    storage = make_places("")
    file = storage.settings.warehouses["duckdb"].path
    file.parent.mkdir(parents=True)
    file.write_text("this is no database, however long it is" * 1000)
    with pytest.raises(WarehouseUnreachable):
        open_warehouse(storage, "duckdb").columns("shop.items")


def test_nothing_there_yet_is_no_table(make_places: Callable[..., Storage]) -> None:
    storage = make_places("")
    warehouse = open_warehouse(storage, "duckdb")
    assert warehouse.columns("shop.items") is None
    assert warehouse.loaded("shop.items", "try-1") is None
    warehouse.close()
    assert not Path(storage.settings.warehouses["duckdb"].path).exists()


def test_a_server_that_does_not_answer(server: Bench) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        warehouse = again(server, port=taken.getsockname()[1])
        with pytest.raises(WarehouseUnreachable, match="refused") as gone:
            warehouse.columns("shop.items")
    assert gone.value.transient
    assert gone.value.hint


def test_a_database_that_is_not_there(server: Bench) -> None:
    with pytest.raises(WarehouseUnreachable, match="does not exist"):
        again(server, database="nowhere").columns("shop.items")


@pytest.fixture
def guarded(server: Bench) -> str:
    """A user whom PostgreSQL asks for a password; all others are trusted."""
    user, rule = "guarded", "host all guarded 127.0.0.1/32 password\n"
    with psycopg.connect(server.postgres, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (user,)).fetchone():
            return user
        connection.execute("CREATE USER guarded PASSWORD 'right'")
        file = "current_setting('hba_file')"
        kept = f"SELECT lo_from_bytea(0, convert_to(%s || pg_read_file({file}), 'UTF8'))"
        written = connection.execute(kept, (rule,)).fetchone()
        connection.execute(f"SELECT lo_export(%s, {file})", written)
        connection.execute("SELECT pg_reload_conf()")
    # The server reads its rules anew when it gets to it.
    for _attempt in range(10_000):
        try:
            psycopg.connect(server.postgres, user=user, password="wrong").close()
        except psycopg.OperationalError:
            return user
    raise AssertionError("PostgreSQL takes any password")


def test_a_wrong_password(server: Bench, guarded: str, tmp_path: Path) -> None:
    password = tmp_path / "password"
    warehouse = again(server, user=guarded, password=f"file:{password}")
    password.write_text("wrong")
    with pytest.raises(WarehouseUnreachable, match="password authentication failed") as refused:
        warehouse.columns("shop.items")
    assert refused.value.hint
    assert "wrong" not in str(refused.value)
    password.write_text("right")
    assert warehouse.columns("shop.items") is None


def test_loads_wait_for_each_other_only_so_long(postgres: Bench) -> None:
    hasty = again(postgres, lock_sec=0)
    order = postgres.order(postgres.table(), [(1, "a")], ITEMS)
    postgres.load(postgres.table(), [], ITEMS)
    with psycopg.connect(postgres.postgres) as other:
        other.execute("LOCK TABLE goldsmith.loads")
        with pytest.raises(WarehouseBusy, match="lock timeout") as busy:
            hasty.load(order, nowhere)
    assert busy.value.transient
    assert postgres.leftovers() == []


def test_a_load_can_be_cancelled_from_another_session(
    server: Bench, meanwhile: Callable[[Callable[[], object]], threading.Thread]
) -> None:
    warehouse = server.warehouse
    assert isinstance(warehouse, ServerWarehouse)
    order = server.order(server.table(), [(1, "a")], ITEMS)
    ended: list[GoldsmithError] = []
    publishing = threading.Event()

    def load() -> None:
        def reach(point: str) -> None:
            if point == "warehouse-copied":
                publishing.set()

        try:
            warehouse.load(order, reach)
        except GoldsmithError as error:
            ended.append(error)

    server.load(server.table(), [], ITEMS)
    with psycopg.connect(server.postgres) as other:
        # The load waits for the ledger, so there is a statement to cancel.
        other.execute("LOCK TABLE goldsmith.loads IN ROW EXCLUSIVE MODE")
        thread = meanwhile(load)
        assert publishing.wait(30)
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = %s"
        (session_id,) = warehouse.session_ids
        while server.ask(waiting, session_id) == [(0,)]:
            assert thread.is_alive()
        assert warehouse.cancel()
        thread.join(30)
    assert [type(error) for error in ended] == [LoadCancelled]
    assert warehouse.session_ids == set()
    assert not warehouse.cancel()
    assert server.warehouse.columns(order.location) is None
    assert server.leftovers() == []


def test_rows_that_are_refused_are_shown(server: Bench) -> None:
    where, text = server.table(), "x" * 70_000 if server.kind == "redshift" else "a\0b"
    with pytest.raises(LoadRefused) as refused:
        server.load(where, [(1, "fine"), (2, text)], ITEMS)
    assert len(refused.value.rows) == 1
    shown = refused.value.rows[0]
    assert ("row 2" if server.kind == "redshift" else "line 2") in shown
    assert shown in str(refused.value)
    assert server.leftovers() == []


def test_files_in_another_order_are_refused(redshift: Bench) -> None:
    where, staged = redshift.table(), redshift.stage([("a", 1)], {"name": "string", "id": "bigint"})
    with pytest.raises(LoadRefused, match="name, id"):
        redshift.load(where, [()], ITEMS, staged=staged)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (None, WarehouseUnreachable),
        ("08006", WarehouseUnreachable),
        ("28P01", WarehouseUnreachable),
        ("57P01", WarehouseUnreachable),
        ("40001", WarehouseBusy),
        ("40P01", WarehouseBusy),
        ("55P03", WarehouseBusy),
        ("53100", WarehouseBusy),
        ("57014", LoadCancelled),
        ("22003", LoadRefused),
        ("42501", LoadRefused),
    ],
)
def test_what_states_mean(state: str | None, expected: type[GoldsmithError]) -> None:
    assert type(failure(state, "words", where="here", location="a.b")) is expected


def test_a_serializable_isolation_violation_passes() -> None:
    message = "1023 DETAIL: Serializable isolation violation on table - 100123"
    assert failure("XX000", message, where="here", location="a.b").transient
