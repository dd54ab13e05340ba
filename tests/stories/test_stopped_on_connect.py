"""A row written by plain SQL stops whatever is under way over Spark Connect, on others' server.

When the server's tasks have ended it does not say, so that is the one time that is not told.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

import stopping_stages
from plain_sql import PlainSql
from servers import spark as spark_server
from servers.spark import ConnectServer
from stopping_stages import HEALING, LATER, MANY, POLICY, SLEEP, STOP, content_of, lives, on
from stories.shop import Shop
from stories.stopped_runs import (
    CORRECTION,
    DEAF,
    FIRST,
    SILVER,
    Run,
    catalog_of,
    published,
    release,
    requests,
    stopped,
)

TIMES = ("driver_returned_at", "nothing_published_at")
#: Silver takes what is new of bronze as it comes.
APPENDS = (
    "UPDATE stages SET write_mode = 'append', options = '{\"partial\": \"ok\"}' "
    "WHERE pipeline_id = 'orders' AND stage_order = 2"
)
#: No subqueries: docs/spark-connect.md says why.
HASHED = "sha2(CAST(r.id AS STRING), 256)"
ENDLESS = "range(0, 4000000000, 1, 4000) AS r"
WORK = {
    "a task sleeps": f"{SILVER} WHERE {SLEEP}",
    "hashes are shuffled": (
        f"{SILVER} LEFT SEMI JOIN (SELECT DISTINCT {HASHED} AS h FROM {ENDLESS}) AS hashes "
        "ON hashes.h = CAST(bronze_orders.order_id AS STRING)"
    ),
    "rows are written": (
        f"SELECT r.id AS order_id, amount, at FROM bronze_orders CROSS JOIN {MANY} AS r"
    ),
}
#: The table as it would be published is asked something that takes many minutes.
SLOW = f"SELECT order_id FROM {{rows}} CROSS JOIN {ENDLESS} WHERE {HASHED} = 'never'"
QUICK = "SELECT order_id FROM {rows} WHERE amount < 0"
CHECKED = "UPDATE stages SET validation_set_id = 'rules' WHERE stage_order = 2"
RULES = (
    "INSERT INTO validation_rules (rule_set_id, check_def) VALUES ('rules', ?) "
    "ON CONFLICT (rule_set_id) DO UPDATE SET check_def = excluded.check_def"
)
BROKEN = "SELECT order_id, CAST(amount / (amount - 5) AS BIGINT) AS amount, at FROM bronze_orders"
WAITS = "SELECT count(*) FROM requests WHERE status = 'waiting' AND not_before IS NOT NULL"


@pytest.fixture
def shop(request: pytest.FixtureRequest, tmp_path: Path, connect_server: ConnectServer) -> Shop:
    """A project on the server, with a file to load."""
    toml = f'\n[spark]\nremote = "{connect_server.remote}"\n'
    made = Shop.make(tmp_path / "shop", catalog=catalog_of(request), toml=toml)
    made.bring("first", *FIRST)
    with closing(PlainSql(made.catalog)) as plain:
        plain.run(APPENDS)
    return made


@pytest.fixture
def sql(shop: Shop) -> Iterator[PlainSql]:
    with closing(PlainSql(shop.catalog)) as plain:
        yield plain


def is_stopped(shop: Shop, sql: PlainSql) -> None:
    """What was asked for is stopped, and nothing of it is left or to be seen."""
    assert requests(sql) == {"stopped"}
    assert published(shop, "silver") == 0
    assert shop.leftovers() == {}


def is_right(shop: Shop, sql: PlainSql) -> None:
    """A release goes on, and ends as if nobody had stopped it."""
    release(shop, sql)
    assert published(shop, "bronze") == published(shop, "silver") == 2
    assert shop.gold() == [(2, 12)]


@on("sqlite", fixture="shop")
@pytest.mark.parametrize(
    "how",
    [
        "a task sleeps",
        "hashes are shuffled",
        pytest.param("rows are written", marks=pytest.mark.soak),
    ],
)
def test_work_is_stopped(
    shop: Shop, sql: PlainSql, connect_server: ConnectServer, how: str
) -> None:
    sql.run(CORRECTION, WORK[how])
    with Run(shop, sql) as run:
        if how == "a task sleeps":
            run.until_it_is_at("write")
        else:
            run.until_it_works(jvm=connect_server.pid)
        flagged = run.flag()
        assert run.end() == 1

    stopped(sql, 2, flagged, *TIMES)
    is_stopped(shop, sql)
    is_right(shop, sql)


@on(fixture="shop")
@pytest.mark.parametrize("when", ["before it is asked for", "while it is planned"])
def test_what_has_not_begun_is_stopped(
    shop: Shop, sql: PlainSql, tmp_path: Path, when: str
) -> None:
    held = tmp_path / "held"
    if when == "before it is asked for":
        sql.run(STOP, "pipeline", "orders")
        with Run(shop, sql) as run:
            assert run.end() == 1
    else:
        with Run(shop, sql, fault=f"taken:hold={held}") as run:
            run.until(held.exists)
            run.flag()
            held.unlink()
            assert run.end() == 1

    assert sql.run("SELECT status FROM stage_runs") == []
    is_stopped(shop, sql)
    is_right(shop, sql)


@on(fixture="shop")
def test_a_cross_join_that_does_not_listen_is_left_to_its_server(
    shop: Shop, sql: PlainSql, connect_server: ConnectServer
) -> None:
    """The tasks run on there, and ours to end is the stage alone."""
    toml = shop.folder / "goldsmith.toml"
    shared = toml.read_text()
    sql.run(CORRECTION, DEAF)
    with spark_server.connect_server() as own:
        toml.write_text(shared.replace(connect_server.remote, own.remote))
        with Run(shop, sql) as run:
            run.until_it_works(jvm=own.pid)
            flagged = run.flag()
            assert run.end() == 1
        stopped(sql, 2, flagged, *TIMES)
        is_stopped(shop, sql)

    toml.write_text(shared)
    is_right(shop, sql)


@on(fixture="shop")
def test_reading_a_slow_file_is_stopped(
    shop: Shop, sql: PlainSql, connect_server: ConnectServer
) -> None:
    file = shop.folder / ".goldsmith" / "s3" / "shop" / "raw" / "orders" / "slow.jsonl.gz"
    file.write_bytes(stopping_stages.lines('{"order_id": 1, "amount": 10}'))
    with Run(shop, sql) as run:
        run.until_it_works(stage=1, jvm=connect_server.pid)
        flagged = run.flag()
        assert run.end() == 1

    stopped(sql, 1, flagged, *TIMES)
    assert published(shop, "bronze") == 0
    is_stopped(shop, sql)
    file.unlink()
    is_right(shop, sql)


@on(fixture="shop")
@pytest.mark.parametrize("how", ["asleep", "busy"])
def test_a_python_function_is_stopped(shop: Shop, sql: PlainSql, tmp_path: Path, how: str) -> None:
    began, tests = tmp_path / "began", Path(stopping_stages.__file__).parent
    sql.run(CORRECTION, "SELECT order_id, slowly(amount) AS amount, at FROM bronze_orders")
    with Run(
        shop,
        sql,
        command=(sys.executable, str(tests / "stories" / "slow_function.py"), how, str(began)),
        environ={"PYTHONPATH": f"{tests}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
    ) as run:
        run.until(lambda: content_of(began))
        flagged = run.flag()
        assert run.end() == 1

    stopped(sql, 2, flagged, *TIMES)
    is_stopped(shop, sql)
    # The server takes its time, but it does end its worker.
    until = time.monotonic() + 60
    while lives(content_of(began)):
        assert time.monotonic() < until
        time.sleep(0.1)
    is_right(shop, sql)


@on(fixture="shop")
def test_the_audit_is_stopped(shop: Shop, sql: PlainSql, connect_server: ConnectServer) -> None:
    def ask(query: str) -> None:
        sql.run(RULES, json.dumps([{"type": "query", "scope": "table", "sql": query}]))

    ask(SLOW)
    sql.run(CHECKED)
    with Run(shop, sql) as run:
        run.until_it_works("audit", jvm=connect_server.pid)
        flagged = run.flag()
        assert run.end() == 1

    stopped(sql, 2, flagged, *TIMES)
    is_stopped(shop, sql)
    ask(QUICK)
    is_right(shop, sql)


@pytest.mark.postgres
@on(fixture="shop")
def test_a_load_that_waits_for_a_lock_is_cancelled_in_the_warehouse(
    shop: Shop, sql: PlainSql, new_database: Callable[[str | None], str]
) -> None:
    url = new_database(None)
    with (shop.folder / "goldsmith.toml").open("a") as toml:
        toml.write(f'[warehouses.redshift]\nkind = "postgres"\nurl = "{url}"\n')
    shop.run()
    shop.bring("second", (3, 30, "2026-01-03"))
    with psycopg.connect(url, autocommit=True) as looking:
        with stopping_stages.locked(url, "shop.gold_orders"), Run(shop, sql) as run:
            run.until(lambda: stopping_stages.is_blocked(looking))
            flagged = run.flag()
            assert run.end() == 1

        stopped(sql, 3, flagged, "statement_cancelled_at", *TIMES)
        assert requests(sql) == {"done", "stopped"}
        assert shop.leftovers() == {}
        rows = "SELECT orders, amount FROM shop.gold_orders"
        assert looking.execute(rows).fetchall() == [(2, 12)]
        release(shop, sql)
        assert looking.execute(rows).fetchall() == [(3, 42)]


@on(fixture="shop")
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_publish_is_all_or_nothing(shop: Shop, sql: PlainSql, tmp_path: Path, when: str) -> None:
    held = tmp_path / "held"
    point = "before-publish" if when == "before" else "published"
    with Run(shop, sql, fault=f"{point}:hold={held}") as run:
        run.until(held.exists)
        flagged = run.flag()
        held.unlink()
        assert run.end() == 1

    [(bronze,)] = sql.run("SELECT status FROM stage_runs WHERE stage_order = 1")
    assert bronze == ("stopped" if when == "before" else "succeeded")
    assert published(shop, "bronze") == (0 if when == "before" else 2)
    stopped(sql, 1 if when == "before" else 2, flagged, *TIMES)
    is_stopped(shop, sql)
    is_right(shop, sql)


@on(fixture="shop")
def test_a_retry_is_stopped_while_it_waits(shop: Shop, sql: PlainSql) -> None:
    shop.apply(POLICY.replace("@", "orders"))
    sql.run(HEALING, LATER)
    sql.run(CORRECTION, BROKEN)
    with Run(shop, sql) as run:
        run.until(lambda: sql.value(WAITS))
        run.flag()
        assert run.end() == 1

    is_stopped(shop, sql)
    is_right(shop, sql)


@on(fixture="shop")
def test_a_remedys_script_is_killed(shop: Shop, sql: PlainSql, tmp_path: Path) -> None:
    began = tmp_path / "began"
    shop.apply(POLICY.replace("@", "orders"))
    sql.run(HEALING, f"{sys.executable} {stopping_stages.script(tmp_path, began)}")
    sql.run(CORRECTION, BROKEN)
    with Run(shop, sql) as run:
        run.until(lambda: content_of(began))
        run.flag()
        assert run.end() == 1

    assert not lives(content_of(began))
    is_stopped(shop, sql)
    is_right(shop, sql)
