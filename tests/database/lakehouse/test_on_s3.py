"""Loads from S3 into tables on S3, and a store that stays away for a while."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from goldsmith.journal.lakehouse_tables import RawLoad
from goldsmith.lakehouse import applications, loads
from goldsmith.lakehouse.carry_out import process_waiting
from goldsmith.lakehouse.raw_tables import find_table
from goldsmith.runtime import Runtime
from goldsmith.storage.files import SourceUnreachable
from lakehouse_story import record
from plain_sql import PlainSql
from servers import s3 as s3_server

BODY = {"patterns": ["r/**/*.jsonl"], "namespace": "entity_raw", "tableName": "redshift"}


@pytest.fixture
def s3() -> Iterator[s3_server.S3]:
    with s3_server.running("lakehouse", "lake") as server:
        yield server


@pytest.fixture
def runtime(catalog_url: str, tmp_path: Path, s3: s3_server.S3) -> Iterator[Runtime]:
    (tmp_path / "goldsmith.toml").write_text("", encoding="utf-8")
    environ = {
        "GOLDSMITH_CATALOG__URL": catalog_url,
        "GOLDSMITH_LAKE__WAREHOUSE": "s3://lake/tables",
        "GOLDSMITH_STORAGE__ENDPOINT": s3.endpoint,
        "GOLDSMITH_STORAGE__REGION": s3_server.REGION,
        "GOLDSMITH_STORAGE__ACCESS_KEY": "env:S3_KEY",
        "GOLDSMITH_STORAGE__SECRET_KEY": "env:S3_SECRET",
        "S3_KEY": s3_server.ACCESS_KEY,
        "S3_SECRET": s3_server.SECRET_KEY,
    }
    opened = Runtime.of(environ, project=tmp_path, environment=None, cwd=tmp_path)
    applications.register(opened.catalog, "redshift", actor="ann")
    yield opened
    opened.close()


def submit(runtime: Runtime, **more: object) -> RawLoad:
    body = BODY | more
    return loads.submit(runtime.catalog, runtime.journal, runtime.storage, "tenant-a", body)


def process(runtime: Runtime) -> int:
    return process_waiting(runtime.catalog, runtime.journal, runtime.storage)


def put(s3: s3_server.S3, key: str, name: str) -> None:
    s3.client().put_object(
        Bucket="lakehouse", Key=key, Body=json.dumps(record(name)).encode() + b"\n"
    )


def test_files_below_the_tenants_prefix_are_loaded_once(runtime: Runtime, s3: s3_server.S3) -> None:
    put(s3, "tenant-a/r/x/1.jsonl", "a")
    put(s3, "tenant-a/r/2.jsonl", "b")
    put(s3, "tenant-a/rest/3.jsonl", "c")
    put(s3, "tenant-ab/r/4.jsonl", "d")
    load = submit(runtime)
    assert submit(runtime).load_id == load.load_id
    assert (load.matched_files, process(runtime)) == (2, 1)
    assert loads.find(runtime.journal, "tenant-a", load.load_id).status == "COMPLETED"
    table = find_table(runtime.storage, "redshift")
    assert table is not None
    assert sorted(table.scan().to_arrow()["entity_name"].to_pylist()) == ["a", "b"]
    assert submit(runtime).load_id == load.load_id


def test_a_store_that_is_away_is_waited_for(
    runtime: Runtime,
    s3: s3_server.S3,
    plain: PlainSql,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # All servers of one process share their objects.
    put(s3, "tenant-a/away/1.jsonl", "a")
    load = submit(runtime, patterns=["away/*"])

    def away(*_: object) -> None:
        raise SourceUnreachable(location="s3://lakehouse", cause="refused")

    with monkeypatch.context() as patched:
        patched.setattr("goldsmith.lakehouse.carry_out.list_files", away)
        assert process(runtime) == 1
    waiting = loads.find(runtime.journal, "tenant-a", load.load_id)
    assert waiting.status == "ACCEPTED"
    assert "refused" in str(waiting.problem)
    assert process(runtime) == 0  # not at once
    plain.run("UPDATE lakehouse_loads SET owned_until = '2026-01-01 00:00:00+00:00'")
    assert process(runtime) == 1
    ended = loads.find(runtime.journal, "tenant-a", load.load_id)
    assert (ended.status, ended.rows_loaded, ended.problem) == ("COMPLETED", 1, None)
