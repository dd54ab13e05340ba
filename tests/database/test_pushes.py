"""Pushing a manifest: in fifties, once an hour, resumed, with ids stored and written back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from goldsmith.assets import items, manifest
from goldsmith.assets.errors import BadItem, BadManifest, UnknownLogType
from goldsmith.assets.items import Flow
from goldsmith.credentials import Secret
from goldsmith.emitters.push import push
from goldsmith.emitters.receiver import (
    HttpReceiver,
    PushRefused,
    PycarloReceiver,
    ReceiverUnreachable,
)
from goldsmith.journal import pushes
from goldsmith.journal.journal import Journal
from plain_sql import PlainSql
from servers.ingest import IngestServer, running

UUID = "11111111-1111-4111-8111-111111111111"
TOKEN = "a-secret-token-of-the-tests"
NAMES = ['with "quotes"', "with.dots", "Zoë 表", "n" * 1000]


@pytest.fixture
def server() -> Iterator[IngestServer]:
    with running() as started:
        yield started


def receiver(server: IngestServer, kind: Any = HttpReceiver) -> Any:
    token = Secret(TOKEN, reference="env:MCD_INGEST_TOKEN")
    return kind(key_id="K", token=token, endpoint=server.url, sleep=lambda _seconds: None)


def written(folder: Path, number: int, flow: Flow = Flow.METADATA, kind: str = "data-lake") -> Path:
    file = folder / f"{flow.value}.json"
    names = [*NAMES, *(f"t{n}" for n in range(number))][:number]
    manifest.write(
        file,
        (items.table(database="d", schema="s", name=name, rows=None) for name in names),
        flow=flow,
        resource_uuid=UUID,
        kind=kind,
        collected_at=datetime(2026, 1, 1, tzinfo=UTC),
        gaps=[{"schema": "hidden", "because": "permission denied"}],
    )
    return file


def names_in(server: IngestServer) -> list[str]:
    return [
        event["relational_asset"]["metadata"]["name"]
        for body in server.bodies
        for event in json.loads(body)["events"]
    ]


def test_a_push_sends_fifties_and_writes_the_ids_into_the_manifest(
    journal: Journal, server: IngestServer, tmp_path: Path
) -> None:
    file = written(tmp_path, 120)
    done = push(manifest.read(file), receiver(server), journal, requested_by="ann")
    assert sorted(len(json.loads(body)["events"]) for body in server.bodies) == [20, 50, 50]
    assert set(names_in(server)) >= set(NAMES)
    content = json.loads(file.read_text())
    assert len(content["items"]) == 120
    assert content["invocation_ids"] == list(done.invocation_ids)
    assert content["invocation_id"] == done.invocation_ids[0]
    assert (content["pushed_count"], len(done.invocation_ids)) == (120, 3)
    assert content["gaps"] == [{"schema": "hidden", "because": "permission denied"}]
    assert TOKEN not in file.read_text()
    [row] = pushes.listed(journal)
    assert (row.item_count, row.requested_by, row.ended_at is not None) == (120, "ann", True)
    assert set(pushes.accepted(journal, row.push_id).values()) == set(done.invocation_ids)


def test_pycarlo_and_plain_http_send_the_same_bytes(
    journal: Journal, server: IngestServer, tmp_path: Path
) -> None:
    pytest.importorskip("pycarlo")
    file = written(tmp_path, 3)
    push(manifest.read(file), receiver(server), journal, requested_by="ann")
    client = receiver(server, PycarloReceiver)
    push(manifest.read(file), client, journal, requested_by="ann", override_reason="compare")
    assert server.paths == ["/ingest/v1/metadata"] * 2
    assert server.bodies[0] == server.bodies[1]
    assert [sent["x-mcd-token"] for sent in server.headers] == [TOKEN, TOKEN]


def test_a_second_push_within_the_hour_asks_for_a_reason(
    journal: Journal, server: IngestServer, tmp_path: Path, plain: PlainSql
) -> None:
    file = written(tmp_path, 2)
    push(manifest.read(file), receiver(server), journal, requested_by="ann")
    with pytest.raises(pushes.PushedWithinTheHour):
        push(manifest.read(file), receiver(server), journal, requested_by="ann")
    assert len(server.bodies) == 1
    again = manifest.read(file)
    push(again, receiver(server), journal, requested_by="ann", override_reason="a correction")
    assert [row.override_reason for row in pushes.listed(journal)] == ["a correction", None]
    plain.run("UPDATE pushes SET started_at = '2026-01-01 00:00:00+00:00'")
    push(manifest.read(file), receiver(server), journal, requested_by="ann")
    assert len(server.bodies) == 3


def test_an_interrupted_push_continues_and_sends_no_batch_twice(
    journal: Journal, server: IngestServer, tmp_path: Path
) -> None:
    file = written(tmp_path, 170)
    server.status = lambda number: 202 if number <= 2 else 400
    with pytest.raises(PushRefused):
        push(manifest.read(file), receiver(server), journal, requested_by="ann", threads=1)
    accepted = list(server.bodies[:2])
    server.bodies.clear()
    server.status = lambda _number: 202
    done = push(manifest.read(file), receiver(server), journal, requested_by="ann", threads=1)
    assert (done.resumed, len(server.bodies), len(done.invocation_ids)) == (2, 2, 4)
    assert not set(accepted) & set(server.bodies)
    server.bodies[:0] = accepted
    assert len(names_in(server)) == len(set(names_in(server))) == 170


@pytest.mark.parametrize("kind", [HttpReceiver, PycarloReceiver])
def test_what_may_pass_is_tried_again_with_the_same_body_and_a_refusal_is_not(
    journal: Journal, server: IngestServer, tmp_path: Path, kind: Any
) -> None:
    pytest.importorskip("pycarlo")
    file = written(tmp_path, 1)
    server.status = lambda number: 503 if number < 3 else 202
    push(manifest.read(file), receiver(server, kind), journal, requested_by="ann")
    assert len(server.bodies) == 3
    assert len(set(server.bodies)) == 1
    server.status = lambda _number: 401
    with pytest.raises(PushRefused) as refused:
        push(
            manifest.read(file),
            receiver(server, kind),
            journal,
            requested_by="ann",
            override_reason="again",
        )
    assert (refused.value.status, len(server.bodies)) == (401, 4)


def test_a_receiver_that_is_down_is_named_and_the_push_does_not_count(
    journal: Journal, server: IngestServer, tmp_path: Path
) -> None:
    file = written(tmp_path, 1)
    server.status = lambda _number: 500
    with pytest.raises(ReceiverUnreachable):
        push(manifest.read(file), receiver(server), journal, requested_by="ann")
    manifest.add(file, {"note": "the items are the same"})
    server.status = lambda _number: 202
    push(manifest.read(file), receiver(server), journal, requested_by="ann")


def test_a_wrong_log_type_or_item_is_refused_before_anything_is_sent(
    journal: Journal, server: IngestServer, tmp_path: Path
) -> None:
    logs = written(tmp_path, 0, Flow.QUERY_LOGS, "hive")
    with pytest.raises(UnknownLogType):
        push(manifest.read(logs), receiver(server), journal, requested_by="ann")
    file = written(tmp_path, 60)
    whole = json.loads(file.read_text())
    whole["items"][59]["type"] = "BASE TABLE"
    file.write_text(json.dumps(whole, indent=2))
    with pytest.raises(BadItem, match="BASE TABLE"):
        push(manifest.read(file), receiver(server), journal, requested_by="ann")
    assert server.bodies == []
    assert pushes.listed(journal) == []


@pytest.mark.parametrize(
    "text", ["", "[1]", "{", '{"items": []}', "\x00", "[" * 100_000, '{"edges": [], "flow": 7}']
)
def test_a_file_that_is_no_manifest_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "m.json"
    file.write_text(text)
    with pytest.raises(BadManifest):
        manifest.read(file)
    with pytest.raises(BadManifest):
        manifest.read(tmp_path / "missing.json")
