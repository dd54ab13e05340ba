"""A request waits at the throttle gate where its first stage would only hold a slot and wait."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from goldsmith.catalog import bundle
from goldsmith.cli.main import goldsmith
from goldsmith.engine.pace import buckets
from goldsmith.engine.pace.buckets import HeldTokens, TokenWish
from goldsmith.journal import requests, waits, workers
from goldsmith.journal.clock import later, read_clock
from goldsmith.journal.definitions import waits as wait_table
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner
from goldsmith.journal.tables import Request
from goldsmith.journal.tables_of_service import WaitRow, WorkerRow
from goldsmith.planning import apply_files
from goldsmith.runtime import Runtime
from goldsmith.worker.admission import admit
from goldsmith.worker.queue_state import StageEstimates

CATALOG = """
pipelines: [{pipeline_id: visits}]
sources: [{source_id: raw, s3_path: "s3://shop/raw/", file_format: jsonl}]
targets: [{target_id: bronze, location: "s3://shop/bronze/", type: s3}]
stages: [{pipeline_id: visits, stage_order: 1, source_id: raw, target_id: bronze}]
throttles:
  - {throttle_id: rate, entity_type: source, entity_id: raw, metric: records_per_second,
     threshold: 10}
  - {throttle_id: slots, entity_type: group, entity_id: "s3://shop/", metric: concurrent_stages,
     threshold: 1}
"""
ME = str(Owner.this_process())


@pytest.fixture
def runtime(catalog_url: str, tmp_path: Path) -> Iterator[Runtime]:
    (tmp_path / "goldsmith.toml").write_text("", encoding="utf-8")
    environ = {"GOLDSMITH_CATALOG__URL": catalog_url}
    opened = Runtime.of(environ, project=tmp_path, environment=None, cwd=tmp_path)
    rows = bundle.load([("catalog.yaml", CATALOG)])
    proposal = apply_files.propose(opened.catalog_indexer, rows)
    apply_files.apply(opened.catalog_indexer, rows, proposal, actor="test", reason=None)
    requests.put(opened.journal, Request(request_id="r", selection=("visits",)))
    workers.register(opened.journal, WorkerRow(worker="elsewhere:1:", slots=1))
    yield opened
    opened.close()


def wait_of(runtime: Runtime) -> tuple[str | None, str | None] | None:
    admit(runtime, StageEstimates(runtime))
    found = waits.listed(runtime.journal).get("r")
    return None if found is None else (found.gate, found.because)


def take(journal: Journal, throttle: str, tokens: float) -> HeldTokens:
    rows = {each.throttle_id: each for each in buckets.read_throttles(journal)}
    wish = TokenWish(throttle=rows[throttle], tokens=tokens)
    held = buckets.acquire(journal, [wish], owner=ME, stage_run_id="try_other")
    assert isinstance(held, HeldTokens)
    return held


def test_a_long_debt_and_taken_slots_close_the_gate(runtime: Runtime) -> None:
    assert wait_of(runtime) is None
    held = take(runtime.journal, "slots", 1)
    because = "It waits for throttle slots, 1 of 1 stages use it."
    assert wait_of(runtime) == ("throttle", because)
    buckets.settle(runtime.journal, held, {})
    assert wait_of(runtime) is None
    # A debt of 20 seconds is left to the stage; one of 120 is not.
    take(runtime.journal, "rate", 230)
    assert wait_of(runtime) is None
    with runtime.journal.writing() as connection:
        connection.execute(sa.text("UPDATE throttle_buckets SET tokens = -1200"))
    gate, sentence = wait_of(runtime) or (None, "")
    assert gate == "throttle"
    assert str(sentence).startswith("It waits for throttle rate, 1")


def test_the_wait_of_a_stage_run_stays_until_nobody_renews_it(runtime: Runtime) -> None:
    row = WaitRow(subject="try_1", gate="throttle", because="waiting for throttle rate, 12 s")
    waits.show_of_stage_run(runtime.journal, row, 12.0)
    wait_of(runtime)
    assert "try_1" in waits.listed(runtime.journal)
    with runtime.journal.writing() as connection:
        connection.execute(sa.update(wait_table).values(not_before=later(-120.0)))
        assert waits.is_stale(
            waits.listed(runtime.journal)["try_1"], read_clock(connection) + timedelta(minutes=3)
        )
    wait_of(runtime)
    assert waits.listed(runtime.journal) == {}


def test_the_commands_show_what_is_in_effect_and_who_waits(
    runtime: Runtime, tmp_path: Path, catalog_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLDSMITH_CATALOG__URL", catalog_url)
    take(runtime.journal, "rate", 30)
    rates = [each for each in buckets.read_throttles(runtime.journal) if each.throttle_id == "rate"]
    buckets.lower(runtime.journal, rates, "stage visits-1 was refused by its source")
    row = WaitRow(subject="try_1", gate="throttle", because="waiting for throttle rate, 12 s")
    waits.show_of_stage_run(runtime.journal, row, 12.0)

    def say(*arguments: str) -> str:
        done = CliRunner().invoke(goldsmith, ["--project", str(tmp_path), *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    listed = say("throttles", "list")
    assert "10 records a second" in listed
    assert "source raw" in listed
    assert '"in_effect": 5.0' in say("throttles", "list", "--json")
    shown = say("throttles", "show", "rate")
    assert "In effect: 5 records a second" in shown
    assert "In the last minute: 0." in shown
    assert "refused by its source" in shown
    assert "try_other holds 30" in shown
    assert "waiting for throttle rate, 12 s" in shown
