"""Process accepted requests: each in one transaction that also marks it, so a kill loses none."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from goldsmith.assets.items import Flow
from goldsmith.gateway import lineage_rows, query_rows, table_rows
from goldsmith.gateway.checking import object_id
from goldsmith.gateway.store import processing, storable, upsert
from goldsmith.journal import row_storage
from goldsmith.journal.clock import now, read_clock
from goldsmith.journal.definitions import gateway_deliveries, gateway_objects
from goldsmith.journal.gateway_tables import Delivery, DeliveryStatus
from goldsmith.journal.journal import Journal

_LOG = logging.getLogger(__name__)
#: Bodies of processed requests are emptied after this span.
KEEP_BODIES = timedelta(days=1)

Apply = Callable[[sa.Connection, Delivery, Mapping[str, Any], datetime], None]


def process_waiting(journal: Journal, *, most: int = 200) -> int:
    """Process requests in the order they came; returns how many."""
    columns = gateway_deliveries.c
    query = (
        sa.select(columns.invocation_id)
        .where(columns.status == DeliveryStatus.RECEIVED.value)
        .order_by(columns.received_at, columns.invocation_id)
        .limit(most)
    )
    with journal.reading() as connection:
        waiting = list(connection.execute(query).scalars())
    for invocation_id in waiting:
        try:
            _process(journal, invocation_id)
        except sa.exc.OperationalError:
            raise  # the database is away: the request waits
        except Exception as error:  # one request must not hold up those behind it
            _LOG.exception("the request %s could not be processed", invocation_id)
            _fail(journal, invocation_id, f"{type(error).__name__}: {error}")
    return len(waiting)


def _process(journal: Journal, invocation_id: str) -> None:
    columns = gateway_deliveries.c
    query = sa.select(gateway_deliveries).where(
        columns.invocation_id == invocation_id, columns.status == DeliveryStatus.RECEIVED.value
    )
    with journal.reading() as connection:
        delivery = next(iter(row_storage.select(connection, Delivery, query)), None)
    if delivery is None:
        return
    assert delivery.received_at is not None
    body = storable(json.loads(str(delivery.body)))
    is_log = delivery.path == Flow.QUERY_LOGS.path
    tables = query_rows.read(body) if is_log else []
    with processing(journal) as connection:
        # Another service may have processed it meanwhile.
        taken = connection.execute(
            sa.update(gateway_deliveries)
            .where(
                columns.invocation_id == invocation_id,
                columns.status == DeliveryStatus.RECEIVED.value,
            )
            .values(status=DeliveryStatus.PROCESSED.value, processed_at=now())
        )
        if taken.rowcount == 0:
            return
        if is_log:
            query_rows.store(connection, delivery, body, delivery.received_at, tables)
        else:
            _APPLY[str(delivery.path)](connection, delivery, body, delivery.received_at)


def _fail(journal: Journal, invocation_id: str, problem: str) -> None:
    with journal.writing() as connection:
        row_storage.update(
            connection,
            Delivery,
            {"invocation_id": invocation_id, "status": DeliveryStatus.RECEIVED.value},
            status=DeliveryStatus.FAILED.value,
            problem=problem,
            processed_at=now(),
        )


def _objects(
    connection: sa.Connection, delivery: Delivery, body: Mapping[str, Any], at: datetime
) -> None:
    path = str(delivery.path)
    upsert(
        connection,
        gateway_objects,
        [
            {
                "resource_uuid": delivery.resource_uuid,
                "path": path,
                "object_id": object_id(path, event),
                "content": event,
                "seen_at": at,
                "invocation_id": delivery.invocation_id,
            }
            for event in body["events"]
        ],
    )


_APPLY: Mapping[str, Apply] = {
    Flow.METADATA.path: table_rows.store,
    Flow.LINEAGE.path: lineage_rows.store,
    "etl/metadata": _objects,
    "etl/runs": _objects,
    "bi/metadata": _objects,
}


def forget_bodies(journal: Journal) -> int:
    """Empty the bodies of requests that were processed a day ago."""
    columns = gateway_deliveries.c
    with journal.writing(lasts=False) as connection:
        before = read_clock(connection) - KEEP_BODIES
        return connection.execute(
            sa.update(gateway_deliveries)
            .where(
                columns.status == DeliveryStatus.PROCESSED.value,
                columns.processed_at < before,
                columns.body.is_not(None),
            )
            .values(body=None)
        ).rowcount
