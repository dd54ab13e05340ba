"""Post the failure as JSON to an address and do what it answers.

`headers` are values, or where a secret is kept (`env:NAME`).
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping

from goldsmith.credentials import is_reference
from goldsmith.healing.answer import BadAnswer, decision_of
from goldsmith.healing.failure import Decision, Failure
from goldsmith.healing.remedy import Outside, remedy

_LONGEST = 128 * 1024


@remedy
def webhook(
    failure: Failure,
    *,
    outside: Outside,
    action: str,
    seconds: float = 30,
    headers: Mapping[str, str] | None = None,
) -> Decision | None:
    sent = {
        name: outside.secrets.resolve(str(value)).reveal()
        if is_reference(str(value))
        else str(value)
        for name, value in (headers or {}).items()
    }
    request = urllib.request.Request(
        action,
        data=json.dumps(failure.as_plain(), default=str).encode(),
        headers={"Content-Type": "application/json", **sent},
    )
    try:
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            text = answer.read(_LONGEST).decode("utf-8", "replace")
    except (OSError, urllib.error.URLError, ValueError) as error:
        cause = outside.secrets.redact(str(error))
        raise BadAnswer(remedy=action, cause=f"it does not answer ({cause})") from error
    return decision_of(outside.secrets.redact(text), action)
