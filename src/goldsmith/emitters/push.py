"""Push a manifest: bounded threads, each batch recorded, resumed after a kill."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice

from goldsmith.assets import manifest as manifests
from goldsmith.assets.bodies import BATCH, PushBody, batches
from goldsmith.assets.items import Flow, check_log_type, moment_text
from goldsmith.assets.manifest import Manifest
from goldsmith.emitters.receiver import Receiver
from goldsmith.errors import BadRequest
from goldsmith.journal import pushes
from goldsmith.journal.journal import Journal

THREADS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class PushResult:
    """What a push did."""

    push_id: str
    flow: Flow
    resource_uuid: str
    items: int
    invocation_ids: tuple[str, ...]
    #: Batches that had arrived before this attempt.
    resumed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sent:
    body_hash: str
    items: int
    invocation_id: str | None
    before: bool


def push(
    manifest: Manifest,
    receiver: Receiver,
    journal: Journal,
    *,
    requested_by: str,
    override_reason: str | None = None,
    batch_size: int = BATCH,
    threads: int = THREADS,
    arrived: Callable[[str | None, int], None] | None = None,
) -> PushResult:
    """Push the items of a manifest; `arrived` is called with each invocation id and its items.

    The invocation ids are stored with each batch, and written into the manifest at the end.
    """
    if manifest.flow is Flow.QUERY_LOGS:
        check_log_type(manifest.kind)
    # Every item is checked before the first is sent: nothing is pushed by halves.
    if sum(1 for _ in manifest.items()) == 0:
        raise BadRequest(sentence=f"{manifest.file} holds no items.", advice="Collect first.")
    begun = pushes.begin(
        journal,
        resource_uuid=manifest.resource_uuid,
        flow=manifest.flow.value,
        receiver=receiver.address,
        manifest_hash=manifest.content_hash(),
        requested_by=requested_by,
        override_reason=override_reason,
    )
    known = pushes.accepted(journal, begun.push_id)

    def send(batch: PushBody) -> _Sent:
        body_hash = hashlib.sha256(batch.body).hexdigest()
        if body_hash in known:
            return _Sent(
                body_hash=body_hash,
                items=len(batch.items),
                invocation_id=known[body_hash],
                before=True,
            )
        invocation_id = receiver.send(manifest.flow, batch.body)
        pushes.record_batch(
            journal,
            begun.push_id,
            body_hash=body_hash,
            invocation_id=invocation_id,
            items=len(batch.items),
        )
        if arrived is not None:
            arrived(invocation_id, len(batch.items))
        return _Sent(
            body_hash=body_hash, items=len(batch.items), invocation_id=invocation_id, before=False
        )

    waiting = batches(
        manifest.flow,
        manifest.items(),
        resource_uuid=manifest.resource_uuid,
        kind=manifest.kind,
        size=batch_size,
    )
    items, resumed, ids = 0, 0, dict[str, None]()
    for sent in _in_threads(send, waiting, threads):
        items += sent.items
        resumed += sent.before
        if sent.invocation_id is not None:
            ids[sent.invocation_id] = None
    done = pushes.finish(journal, begun.push_id, items=items)
    manifests.add(
        manifest.file,
        {
            "invocation_id": next(iter(ids), None),
            "invocation_ids": list(ids),
            "pushed_at": moment_text(done.ended_at),
            "pushed_count": items,
            "batch_size": batch_size,
        },
    )
    return PushResult(
        push_id=begun.push_id,
        flow=manifest.flow,
        resource_uuid=manifest.resource_uuid,
        items=items,
        invocation_ids=tuple(ids),
        resumed=resumed,
    )


def _in_threads(
    send: Callable[[PushBody], _Sent], waiting: Iterator[PushBody], threads: int
) -> Iterator[_Sent]:
    """The results in the order of the batches; at most two batches a thread are in memory."""
    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="push") as pool:
        running: list[Future[_Sent]] = [
            pool.submit(send, batch) for batch in islice(waiting, threads * 2)
        ]
        try:
            while running:
                wait(running[:1], return_when=FIRST_COMPLETED)
                yield running.pop(0).result()
                running += [pool.submit(send, batch) for batch in islice(waiting, 1)]
        except BaseException:
            for future in running:
                future.cancel()
            raise
