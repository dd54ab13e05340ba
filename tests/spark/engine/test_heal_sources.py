"""Files and where they lie: real errors of storage and of files, each pair ending healed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from servers import faulty_s3, s3
from servers.faulty_s3 import Door
from spark.engine.buckets import bring, configure_bucket, on
from spark.engine.conftest import Bench, Elsewhere
from spark.engine.healing import (
    BRONZE,
    allowing,
    ask,
    attempt,
    expected_story,
    healed,
    incident_of,
    run_until_over,
    story,
)
from spark.engine.healing import on as at_point

_BUCKETS = (f"healed-{number}" for number in itertools.count())


def from_bucket(bucket: str) -> str:
    return BRONZE.replace("s3://raw/@/", f"s3://{bucket}/@/")


@pytest.mark.soak
def test_a_killed_s3_server_is_waited_for(
    elsewhere: Elsewhere, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = next(_BUCKETS)
    with ExitStack() as running:
        server = running.enter_context(s3.running())
        bench = elsewhere(on(server.endpoint))
        bench.apply(from_bucket(bucket))
        bring(server, bucket, f"{bench.tag}/a.jsonl")
        configure_bucket(spark, bucket, server.endpoint)
        # The files are listed already: it is Spark whom nobody answers.
        at_point(monkeypatch, "branch-made", running.close)
        request = ask(bench)
        assert attempt(bench, request).status == "waiting"
    # Now there is nobody to list the files either.
    assert attempt(bench, request).status == "waiting"
    with s3.running(port=int(server.endpoint.rpartition(":")[2])) as server:
        bring(server, bucket, f"{bench.tag}/a.jsonl")
        done = run_until_over(bench, request)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(1,)]
    assert story(bench, done) == expected_story("SourceUnreachable", "retry_later", "retry_later")


def with_copy(catalog: str) -> str:
    """The catalog, with keys that tell rows apart and a copy of the raw files elsewhere."""
    keyed = catalog.replace('"bronze_@"}', '"bronze_@", write_mode: merge, keys: [id]}', 1)
    copy = '  - {source_id: "copy_@", s3_path: "s3://copy/@/", file_format: jsonl}\n'
    edge = '  - {from_dataset_id: "copy_@", to_dataset_id: "bronze_@"}\n'
    return keyed.replace("targets:", f"{copy}targets:", 1) + f"dataset_lineage:\n{edge}"


@pytest.mark.soak
def test_a_killed_s3_server_is_gone_round(
    elsewhere: Elsewhere, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bucket = next(_BUCKETS)
    with ExitStack() as running:
        server = running.enter_context(s3.running())
        copy = tmp_path / "copy"
        bench = elsewhere(on(server.endpoint) + f'"s3://copy/" = "{copy}"\n')
        bench.apply(with_copy(from_bucket(bucket)))
        bring(server, bucket, f"{bench.tag}/a.jsonl")
        configure_bucket(spark, bucket, server.endpoint)
        at_point(monkeypatch, "branch-made", running.close)
        request = ask(bench)
        assert attempt(bench, request).status == "waiting"
    (copy / bench.tag).mkdir(parents=True)
    (copy / bench.tag / "a.jsonl").write_text('{"id": 1, "amount": 10}\n')
    done = run_until_over(bench, request)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(1,)]
    assert story(bench, done) == expected_story("SourceUnreachable", "reroute")


@pytest.fixture
def guarded(elsewhere: Elsewhere, spark: SparkSession) -> Iterator[tuple[Bench, Door]]:
    """A bench whose files lie behind a door."""
    bucket = next(_BUCKETS)
    with s3.running() as server, faulty_s3.before(server.endpoint) as front:
        bench = elsewhere(on(front.endpoint).replace("env:S3_KEY", "file:key"))
        bench.apply(from_bucket(bucket))
        (Path(bench.runtime.settings.project) / "key").write_text(s3.ACCESS_KEY)
        bring(server, bucket, f"{bench.tag}/a.jsonl")
        configure_bucket(spark, bucket, front.endpoint)
        yield bench, front


@pytest.mark.soak
def test_an_s3_that_asks_to_slow_down_is_asked_less_and_later(
    guarded: tuple[Bench, Door],
) -> None:
    bench, front = guarded
    front.says, request = "SlowDown", ask(bench)
    for remedy in ("slow_down", "slow_down", "retry_later"):
        waiting = attempt(bench, request)
        assert waiting.status == "waiting", remedy
        if remedy == "slow_down":
            overrides = waiting.options["healing"]["adjust"][f"{bench.tag}-1"]
            assert (waiting.not_before is not None, overrides["at_once"]) == (True, 1)
    assert front.refused
    front.says = None
    done = run_until_over(bench, request)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(1,)]
    assert story(bench, done) == expected_story(
        "SourceThrottled", "slow_down", "slow_down", "retry_later"
    )


@pytest.mark.soak
def test_an_expired_token_is_looked_up_again(guarded: tuple[Bench, Door]) -> None:
    bench, front = guarded
    front.says, front.lets_in = "ExpiredToken", "fresh"
    # A new session of Spark is told anew by `goldsmith`; the shared one of the tests is not.
    at_s3a = bench.spark.sparkContext._jsc.hadoopConfiguration()  # type: ignore[union-attr]
    resources = replace(bench.resources(), renew=bench.runtime.storage.forget)
    request = ask(bench)
    assert attempt(bench, request, resources).status == "waiting"
    (Path(bench.runtime.settings.project) / "key").write_text("fresh")
    bucket = (
        bench.runtime.catalog_indexer.catalog_index().stages[f"{bench.tag}-1"].inputs[0].location
    )
    at_s3a.set(f"fs.s3a.bucket.{str(bucket).split('/')[2]}.access.key", "fresh")
    done = run_until_over(bench, request, resources)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(1,)]
    assert story(bench, done) == expected_story("CredentialsExpired", "refresh_credentials")


@pytest.mark.soak
def test_a_token_that_nobody_renews_is_left_to_a_person(guarded: tuple[Bench, Door]) -> None:
    bench, front = guarded
    front.says = "ExpiredToken"
    resources = replace(bench.resources(), renew=bench.runtime.storage.forget)
    failed = run_until_over(bench, resources=resources)

    assert failed.status == "failed"
    again = ("refresh_credentials", "refresh_credentials")
    assert story(bench, failed) == expected_story("CredentialsExpired", *again, "open_incident")
    assert incident_of(bench, 1).error_code == "CredentialsExpired"
    front.says = None
    assert healed(bench).status == "done"
    assert bench.rows("bronze", "id") == [(1,)]


@pytest.mark.soak
def test_a_file_in_another_type_is_set_aside_until_it_is_written_anew(bench: Bench) -> None:
    allowed = allowing(BRONZE, "quarantine_files")
    bench.apply(allowed.replace("file_format: jsonl", "file_format: parquet"))
    file = bench.bring("a.parquet")
    _parquet(file, "1", "10")
    _parquet(file.with_name("b.parquet"), 2, 20)
    done = healed(bench)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(2,)]
    assert story(bench, done) == expected_story("FileDoesNotFit", "quarantine_files")
    _parquet(file, 1, 10)
    assert healed(bench).status == "done"
    assert bench.rows("bronze", "id") == [(1,), (2,)]


@pytest.mark.soak
def test_a_file_nobody_can_read_is_set_aside_until_it_is_written_anew(bench: Bench) -> None:
    allowed = allowing(BRONZE, "quarantine_files")
    bench.apply(allowed.replace("file_format: jsonl", "file_format: parquet"))
    file = bench.bring("a.parquet")
    # Packed in a way that Spark has no codec for.
    _parquet(file, 1, 10, compression="brotli")
    _parquet(file.with_name("b.parquet"), 2, 20)
    done = healed(bench)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(2,)]
    assert story(bench, done) == expected_story("FileUnreadable", "quarantine_files")
    _parquet(file, 1, 10)
    assert healed(bench).status == "done"
    assert bench.rows("bronze", "id") == [(1,), (2,)]


@pytest.mark.soak
def test_a_file_of_records_the_parser_cannot_even_keep_is_set_aside(bench: Bench) -> None:
    allowed = allowing(BRONZE, "quarantine_rows", "quarantine_files")
    bench.apply(allowed.replace("file_format: jsonl", "file_format: csv"))
    bench.bring("a.csv", "id,amount", "1,10")
    # More columns than the parser takes.
    bench.bring("b.csv", "id,amount", "," * 30_000)
    done = healed(bench)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(1,)]
    assert story(bench, done) == expected_story(
        "RecordMalformed", "quarantine_rows", "quarantine_files"
    )


def _parquet(file: Path, id_: object, amount: object, **how: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": [id_], "amount": [amount]}), file, **how)
