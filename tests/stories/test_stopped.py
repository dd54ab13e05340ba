"""Tasks that do not listen end with their JVM, and the run goes on when it is released."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from plain_sql import PlainSql
from stopping_stages import SLEEP, TIMES, on
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


@pytest.fixture
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Shop:
    """A project with a file to load, on SQLite where the test does not say otherwise."""
    made = Shop.make(tmp_path / "shop", catalog=catalog_of(request))
    made.bring("first", *FIRST)
    return made


@pytest.fixture
def sql(shop: Shop) -> Iterator[PlainSql]:
    with closing(PlainSql(shop.catalog)) as plain:
        yield plain


@on("sqlite", fixture="shop")
def test_a_cross_join_that_does_not_listen_ends_with_its_jvm(shop: Shop, sql: PlainSql) -> None:
    sql.run(CORRECTION, DEAF)
    with Run(shop, sql) as run:
        run.until_it_works()
        flagged = run.flag()
        assert run.end() == 1

    assert stopped(sql, 2, flagged, *TIMES)["zombie_tasks"] >= 1
    assert requests(sql) == {"stopped"}
    assert published(shop, "silver") == 0
    assert shop.leftovers() == {}
    release(shop, sql)
    assert shop.gold() == [(2, 12)]


@pytest.mark.parametrize(
    "point",
    [
        "stopping",
        *(pytest.param(p, marks=pytest.mark.soak) for p in ("stop-cleaned", "stop-recorded")),
    ],
)
def test_a_worker_that_dies_while_it_stops_leaves_the_right_state(
    shop: Shop, sql: PlainSql, point: str
) -> None:
    sql.run(CORRECTION, f"{SILVER} WHERE {SLEEP}")
    with Run(shop, sql, fault=point) as run:
        run.until_it_is_at("write")
        answer = shop.ask("stop", "pipeline:orders", "--reason", "it eats the cluster", "--yes")
        assert answer["running_stages"]
        assert run.end() == -9

    again = shop.run(fault="nowhere")
    assert again.returncode == 1, again.stdout
    sql.run(CORRECTION, SILVER)
    shop.goldsmith("--project", str(shop.folder), "release", "pipeline:orders")
    shop.run()
    assert shop.gold() == [(2, 12)]
    assert shop.leftovers() == {}
