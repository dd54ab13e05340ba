"""Servers that refuse, vanish and do not know us: coded, nothing published, later all right."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import psycopg
import pytest
from pyspark.sql import SparkSession

from goldsmith.engine import faults
from goldsmith.errors import GoldsmithError
from servers import s3 as s3_server
from spark.engine.buckets import bring, configure_bucket, from_bucket, on
from spark.engine.conftest import Bench, Elsewhere
from spark.engine.test_stages import BRONZE

#: Nothing listens there.
_CLOSED = 1
_NUMBERS = itertools.count()
TO_POSTGRES = BRONZE.replace(
    'location: "s3://lake/bronze/@/", type: s3', 'location: "shop.@", type: postgres'
)


def at(url: str) -> str:
    return f'[storage]\nfolder = "HOME/s3"\n[warehouses.postgres]\nurl = "{url}"\n'


def says(bench: Bench) -> tuple[str, str]:
    """The code and the hint of a run that failed.

    Where the target cannot even be asked whether anything was published, nobody says that the
    stage failed: it stays open, the request fails, and the next run settles it.
    """
    try:
        failed = bench.run()[1]
    except GoldsmithError as error:
        assert _failed_requests(bench)[-1] == ("failed",)
        return error.code, str(error.hint)
    assert failed.status == "failed"
    assert ("StageFailed", failed.error_code) in bench.events(failed.stage_run_id)
    return str(failed.error_code), str(failed.facts["hint"])


def _failed_requests(bench: Bench) -> list[tuple[Any, ...]]:
    query = "SELECT status FROM requests ORDER BY asked_at"
    with bench.runtime.journal.reading() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(query)]


def loaded(url: str, bench: Bench) -> list[int]:
    with psycopg.connect(url) as connection:
        if connection.execute(f"SELECT to_regclass('shop.{bench.tag}')").fetchone() == (None,):
            return []
        found = connection.execute(f"SELECT id FROM shop.{bench.tag} ORDER BY id").fetchall()
    return [row[0] for row in found]


@pytest.mark.postgres
@pytest.mark.parametrize("how", ["refused", "unknown user"])
def test_a_warehouse_that_does_not_let_us_in(elsewhere: Elsewhere, database: str, how: str) -> None:
    port = database.rpartition(":")[2].partition("/")[0]
    wrong = {
        "refused": database.replace(port, str(_CLOSED)),
        "unknown user": database.replace("postgres@", "nobody_of_that_name@"),
    }[how]
    bench = elsewhere(at(wrong))
    bench.apply(TO_POSTGRES)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    code, hint = says(bench)

    assert code == "WarehouseUnreachable"
    assert "config check" in hint
    again = elsewhere(at(database), like=bench)
    assert again.run()[1].rows_written == 1
    assert loaded(database, again) == [1]
    assert again.leftovers() == []


@pytest.mark.postgres
@pytest.mark.parametrize("point", ["warehouse-copied", "warehouse-ledger-written"])
def test_a_connection_that_drops_while_rows_are_loaded(
    elsewhere: Elsewhere, database: str, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = elsewhere(at(database))
    bench.apply(TO_POSTGRES)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.run()
    bench.bring("b.jsonl", {"id": 2, "amount": 20})

    def drop(reached: str) -> None:
        if reached == point:
            with psycopg.connect(database) as connection:
                ended = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                connection.execute(f"{ended} WHERE application_name = 'goldsmith'")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(faults, "reach", drop)
        code, hint = says(bench)
    assert code == "WarehouseUnreachable"
    assert hint
    assert loaded(database, bench) == [1]
    assert bench.run()[1].rows_written == 1
    assert loaded(database, bench) == [1, 2]
    assert bench.leftovers() == []


class _Refuses(BaseHTTPRequestHandler):
    """An S3 that knows nobody."""

    def do_GET(self) -> None:
        body = b"<Error><Code>InvalidAccessKeyId</Code><Message>Who are you?</Message></Error>"
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_said: object) -> None:
        """Not into the test's output."""


@pytest.fixture
def refusing() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refuses)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("how", ["refused", "wrong credentials", "no such bucket"])
def test_an_s3_that_does_not_give_its_files(
    elsewhere: Elsewhere, refusing: str, spark: SparkSession, how: str
) -> None:
    bucket = f"bucket-{next(_NUMBERS)}"
    with s3_server.running() as s3:
        closed = f"http://127.0.0.1:{_CLOSED}"
        endpoint = {"refused": closed, "wrong credentials": refusing}.get(how, s3.endpoint)
        bench = elsewhere(on(endpoint))
        bench.apply(from_bucket(bucket))
        code, hint = says(bench)
        assert (
            code
            == {
                "refused": "SourceUnreachable",
                "wrong credentials": "CredentialsWrong",
                "no such bucket": "SourceMissing",
            }[how]
        )
        assert "config check" in hint
        assert bench.leftovers() == []

        bring(s3, bucket, f"{bench.tag}/a.jsonl")
        configure_bucket(spark, bucket, s3.endpoint)
        again = elsewhere(on(s3.endpoint), like=bench)
        assert again.run()[1].rows_written == 1
        assert again.rows("bronze", "id") == [(1,)]


def test_an_s3_that_is_gone_in_the_middle_of_a_run(
    elsewhere: Elsewhere, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = f"bucket-{next(_NUMBERS)}"
    with ExitStack() as running:
        s3 = running.enter_context(s3_server.running())
        bench = elsewhere(on(s3.endpoint))
        bench.apply(from_bucket(bucket))
        bring(s3, bucket, f"{bench.tag}/a.jsonl")
        configure_bucket(spark, bucket, s3.endpoint)

        def end_it(point: str) -> None:
            if point == "branch-made":
                running.close()

        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(faults, "reach", end_it)
            code, hint = says(bench)
    assert code in ("SourceUnreachable", "FileUnreadable"), code
    assert hint
    assert bench.leftovers() == []

    with s3_server.running() as s3:
        bring(s3, bucket, f"{bench.tag}/a.jsonl")
        configure_bucket(spark, bucket, s3.endpoint)
        again = elsewhere(on(s3.endpoint), like=bench)
        assert again.run()[1].rows_written == 1
        assert again.rows("bronze", "id") == [(1,)]
