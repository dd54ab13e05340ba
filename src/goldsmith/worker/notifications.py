"""Post the messages of the outbox; a refused message stays there and is posted again later."""

from __future__ import annotations

import json

from goldsmith.catalog.incidents import NotificationRoute
from goldsmith.credentials import is_reference
from goldsmith.errors import GoldsmithError
from goldsmith.http_client import post
from goldsmith.journal import outbox
from goldsmith.journal.healing_tables import Message
from goldsmith.runtime import Runtime

_SECONDS = 5.0


def deliver(runtime: Runtime) -> int:
    """Post the messages that are due; return how many were accepted."""
    due = outbox.take_due(runtime.journal)
    if not due:
        return 0
    routes = runtime.catalog.snapshot().table(NotificationRoute)
    delivered = 0
    for message in due:
        route = routes.get((message.route_id,))
        problem = "its route is gone" if route is None else _post(runtime, route, message)
        if problem is None:
            outbox.sent(runtime.journal, message)
            delivered += 1
        else:
            outbox.refused(runtime.journal, message, runtime.secrets.redact(problem))
    return delivered


def _post(runtime: Runtime, route: NotificationRoute, message: Message) -> str | None:
    """Post one message; return the problem, or None."""
    try:
        setting = route.url or ""
        url = runtime.secrets.resolve(setting).reveal() if is_reference(setting) else setting
        if not url.startswith(("https://", "http://")):
            return "its address is none"
        body = json.dumps(dict(message.body), default=str).encode()
        post(url, body, {}, seconds=_SECONDS, most=0)
    except (OSError, ValueError, GoldsmithError) as error:
        return str(error)
    return None
