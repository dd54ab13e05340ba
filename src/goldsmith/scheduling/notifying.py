"""Notifying: what waits in the outbox is posted; what nobody takes waits on, and is not lost."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

from goldsmith.catalog.incidents import NotificationRoute
from goldsmith.credentials import is_reference
from goldsmith.errors import GoldsmithError
from goldsmith.journal import outbox
from goldsmith.journal.tables_of_healing import Message
from goldsmith.runtime import Runtime

_SECONDS = 5.0


def deliver(runtime: Runtime) -> int:
    """Post what is due; how many messages were taken."""
    due = outbox.take_due(runtime.journal)
    if not due:
        return 0
    routes = runtime.catalog.snapshot().table(NotificationRoute)
    taken = 0
    for message in due:
        route = routes.get((message.route_id,))
        problem = "its route is gone" if route is None else _post(runtime, route, message)
        if problem is None:
            outbox.sent(runtime.journal, message)
            taken += 1
        else:
            outbox.refused(runtime.journal, message, runtime.secrets.redact(problem))
    return taken


def _post(runtime: Runtime, route: NotificationRoute, message: Message) -> str | None:
    """Post one message; what went wrong, if anything did."""
    try:
        said = route.url or ""
        url = runtime.secrets.resolve(said).reveal() if is_reference(said) else said
        if not url.startswith(("https://", "http://")):
            return "its address is none"
        request = urllib.request.Request(
            url,
            data=json.dumps(dict(message.body), default=str).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=_SECONDS):
            return None
    except (OSError, urllib.error.URLError, ValueError, GoldsmithError) as error:
        return str(error)
