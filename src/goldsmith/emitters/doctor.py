"""Walk the five checkpoints of a push that is not shown, and name the first that fails."""

from __future__ import annotations

import json
import urllib.error
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urljoin

from goldsmith import http_client
from goldsmith.assets.items import Flow, check_log_type
from goldsmith.assets.manifest import Manifest
from goldsmith.emitters.graphql_client import GraphqlClient
from goldsmith.emitters.receiver import HttpReceiver
from goldsmith.emitters.validate import CheckState, try_after, validate
from goldsmith.errors import GoldsmithError


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """One of the five checkpoints."""

    number: int
    question: str
    state: CheckState
    found: str
    advice: str = ""


def examine(
    manifest: Manifest,
    receiver: HttpReceiver,
    client: GraphqlClient | None,
    *,
    now: datetime,
    sample: int = 5,
) -> Iterator[Checkpoint]:
    """The checkpoints in order; those after the first that fails are not reached."""
    for checkpoint in _checkpoints(manifest, receiver, client, now, sample):
        yield checkpoint
        if checkpoint.state is not CheckState.OK:
            return


def _checkpoints(
    manifest: Manifest,
    receiver: HttpReceiver,
    client: GraphqlClient | None,
    now: datetime,
    sample: int,
) -> Iterator[Checkpoint]:
    status, answer = _probe(manifest, receiver)
    ids = manifest.after_push.get("invocation_ids") or []
    question = "Did the receiver answer 202 with an invocation id?"
    # A key that is refused explains why nothing was accepted.
    if ids or status in (401, 403):
        found = f"{len(ids)} invocation ids, the first is {ids[0]}" if ids else "nothing yet"
        yield Checkpoint(number=1, question=question, state=CheckState.OK, found=found)
    else:
        yield _failed(
            1, question, "the manifest has no invocation id", "goldsmith push push MANIFEST"
        )
    question = "Is the key an Ingestion key?"
    if status is None:
        yield _failed(2, question, answer, "Check the endpoint and the network.")
    elif status == 401 or (status == 403 and "scope" in answer.lower()):
        advice = "Make a key with: montecarlo integrations create-key --scope Ingestion"
        yield _failed(2, question, f"{status}: {answer}", advice)
    yield Checkpoint(number=2, question=question, state=CheckState.OK, found="it is taken")
    question = "Is the resource right, and the key authorized for it?"
    if status == 403:
        yield _failed(3, question, f"403: {answer}", "Check MCD_RESOURCE_UUID and the key.")
    yield Checkpoint(number=3, question=question, state=CheckState.OK, found=manifest.resource_uuid)
    question = "Was it processed?"
    try:
        if manifest.flow is Flow.QUERY_LOGS:
            check_log_type(manifest.kind)
        for _ in manifest.items():
            pass
        shape = "every item has the shape that is taken"
        yield Checkpoint(number=4, question=question, state=CheckState.OK, found=shape)
    except GoldsmithError as error:
        yield _failed(4, question, str(error), error.hint)
    question = "Is it shown?"
    if client is None:
        advice = "Set MCD_ID and MCD_TOKEN, a GraphQL key."
        yield _failed(5, question, "there is no GraphQL key to ask with", advice)
        return
    try:
        checks = validate(manifest, client, now=now, sample=sample)
    except GoldsmithError as error:
        yield _failed(5, question, str(error), error.hint)
        return
    wrong = next((check for check in checks if check.state is not CheckState.OK), None)
    if wrong is None:
        yield Checkpoint(
            number=5, question=question, state=CheckState.OK, found=f"{len(checks)} checks passed"
        )
        return
    due = try_after(manifest)
    advice = f"Search the receiver's log for the invocation id {ids[0] if ids else ''}."
    if wrong.state is CheckState.NOT_YET and due is not None:
        advice = f"Try after {due:%H:%M} UTC."
    yield Checkpoint(
        number=5,
        question=question,
        state=wrong.state,
        found=f"{wrong.checkpoint} of {wrong.item}: {wrong.found}",
        advice=advice,
    )


def _failed(number: int, question: str, found: str, advice: str) -> Checkpoint:
    return Checkpoint(
        number=number, question=question, state=CheckState.FAILED, found=found, advice=advice
    )


def _probe(manifest: Manifest, receiver: HttpReceiver) -> tuple[int | None, str]:
    """The answer to a push without events: it is refused, and why says whether the key is."""
    flow = manifest.flow
    body = {
        "event_type": "QUERY_LOG" if flow is Flow.QUERY_LOGS else flow.value.upper(),
        "resource": {"uuid": manifest.resource_uuid, flow.type_key: manifest.kind},
        "events": [],
    }
    headers = {"x-mcd-id": receiver.key_id, "x-mcd-token": receiver.token.reveal()}
    url = urljoin(receiver.endpoint, f"/ingest/v1/{flow.path}")
    try:
        http_client.post(url, json.dumps(body).encode(), headers, seconds=10, most=1000)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(500).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        return None, f"{url} does not answer: {getattr(error, 'reason', None) or error}"
    return 202, ""
