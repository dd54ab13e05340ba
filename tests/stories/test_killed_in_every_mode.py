"""Killed anywhere, in every write mode, on every target: the next run ends with the right rows."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from goldsmith.engine.faults import POINTS
from servers import redshift as redshift_server
from servers import s3 as s3_server
from servers.postgres import Postgres
from stories.one_stage import Line, LineTarget
from stories.shared_jvm import WarmSpark, warm_spark

MODES = ("append", "overwrite", "merge", "scd2")
TARGET_KINDS = ("lake", "duckdb", "postgres", "redshift")
#: From here on readers see the new rows.
_PUBLISHED = {
    *("warehouse-committed", "staging-removed", "published", "branch-dropped", "staged-removed"),
    *("inputs-counted", "recorded", "lease-released", "run-finished", "request-done"),
}
_ONLY_LAKE = {
    *("table-made", "schema-changed", "branch-made", "rows-taken-back", "branch-dropped"),
}
#: Of a load that goes straight to the table nothing is staged.
_ONLY_STAGED = {"rows-routed", "broken-quarantined"}
#: Met in a replay, a stop or a failure: test_quarantine_killed, test_stopped, test_healing.
_ELSEWHERE = {
    *("replay-marked", "stopping", "stop-cleaned", "stop-recorded"),
    *("healing-decided", "healing-written"),
    # Throttled stages: test_throttled.
    *("tokens-taken", "micro-batch-read", "micro-batch-loaded"),
}
_ONLY_WAREHOUSE = {
    *("staged", "staging-table-made", "warehouse-copied", "warehouse-merged", "staged-removed"),
    *("warehouse-ledger-written", "warehouse-committed", "staging-removed"),
}
#: A run settles what a dead one left, so it dies there only after another has died here.
_SETTLING = {"written": "settle-cleaned", "audited": "settle-checked", "before-publish": "settled"}
_SETTLING |= {"published": "settle-cleaned", "inputs-counted": "settle-checked"}


def points(mode: str, kind: str) -> Iterator[str]:
    """Every point such a stage meets, those of settling twice: unpublished and published."""
    left_out = _ELSEWHERE | (_ONLY_WAREHOUSE if kind == "lake" else _ONLY_LAKE)
    if kind == "lake" and mode not in ("merge", "scd2"):
        left_out = left_out | _ONLY_STAGED
    if mode != "append":
        left_out = left_out | {"rows-taken-back"}
    for point in POINTS:
        # Only what was published can be taken back: that comes last.
        if point in left_out or point == "rows-taken-back" or point.startswith("settle"):
            continue
        yield point
        if point in _SETTLING:
            yield _SETTLING[point]
    if "rows-taken-back" not in left_out:
        yield "rows-taken-back"


def test_the_matrix_leaves_no_point_out() -> None:
    met = [set(points(mode, kind)) for mode in MODES for kind in TARGET_KINDS]
    assert set().union(*met) == set(POINTS) - _ELSEWHERE
    assert min(len(each) for each in met) >= 25


@pytest.fixture(scope="module")
def warm() -> Iterator[WarmSpark]:
    with warm_spark() as spark:
        yield spark


@pytest.fixture
def line_target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LineTarget]:
    """The kind of target the test asks for, on a server of its own where it is one."""
    kind: str = request.param
    if kind in ("lake", "duckdb"):
        yield LineTarget(kind=kind)
        return
    server: Postgres = request.getfixturevalue("postgres_server")
    database = f"line_{os.getpid()}_{next(_NUMBERS)}"
    server.create(database)
    url = server.url(database)
    if kind == "postgres":
        yield LineTarget(kind=kind, url=url, toml=f'[warehouses.postgres]\nurl = "{url}"\n')
    else:
        yield from _redshift(url, tmp_path / "line")
    server.drop(database)


_NUMBERS = itertools.count()


def _redshift(url: str, folder: Path) -> Iterator[LineTarget]:
    # The Spark that stays warm remembers which server it met a bucket's name on.
    bucket = f"line-staging-{next(_NUMBERS)}"
    with s3_server.running(bucket) as s3, redshift_server.running(url, s3) as standin:
        home = folder / ".goldsmith"
        toml = (
            f'[storage]\nendpoint = "{s3.endpoint}"\naccess_key = "env:S3_KEY"\n'
            f'secret_key = "env:S3_SECRET"\nbind = {{ "s3://line/" = "{home}/s3/line" }}\n'
            f'[lake]\nwarehouse = "{home}/lake"\nio = "hadoop"\n'
            f'[warehouses.redshift]\nhost = "127.0.0.1"\nport = {standin.port}\n'
            f'database = "{url.rpartition("/")[2]}"\nuser = "postgres"\nssl = false\n'
            f'staging = "s3://{bucket}/staging"\niam_role = "arn:aws:iam::123456789012:role/copy"\n'
        )
        keys = {"S3_KEY": s3_server.ACCESS_KEY, "S3_SECRET": s3_server.SECRET_KEY}
        client = s3.client()
        yield LineTarget(
            kind="redshift", url=url, toml=toml, environ=keys, s3=client, bucket=bucket
        )
        client.close()


@pytest.mark.soak
@pytest.mark.postgres
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("line_target", TARGET_KINDS, indirect=True)
def test_killed_anywhere_the_next_run_is_right(
    tmp_path: Path, line_target: LineTarget, mode: str, warm: WarmSpark
) -> None:
    line = Line.make(tmp_path / "line", mode, line_target, warm.environ)
    seen: Counter[tuple[Any, ...]] = Counter()
    for number, point in enumerate(points(mode, line_target.kind)):
        line.bring(number, broken=point == "quarantine-written")
        if point == "rows-taken-back":
            line.bring(0, amount=11)
        killed = line.run(fault=point)
        warm.end_spark()
        assert killed.returncode == -9, f"{point} was never met:\n{killed.stdout}{killed.stderr}"
        if point in _PUBLISHED:
            seen = line.expected()
        assert line.rows() == seen, f"after {point}"
    done = line.run()
    warm.end_spark()

    assert done.returncode == 0, done.stdout + done.stderr
    assert line.rows() == line.expected()
    kept = line.quarantined_rows()
    # An overwrite reads everything each time, and meets the broken record each time.
    assert kept == [1] * (len(kept) if mode == "overwrite" else 1)
    assert kept
    assert line.leftovers() == {}
