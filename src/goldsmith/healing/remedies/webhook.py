"""Post the failure as JSON to a URL and do what it answers.

`headers` are values, or references to secrets (`env:NAME`). A redirect to another host is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from goldsmith.credentials import is_reference
from goldsmith.healing.answer import BadAnswer, decision_of
from goldsmith.healing.failure import Decision, Failure
from goldsmith.healing.remedy import RemedyContext, remedy
from goldsmith.http_client import post

_LONGEST = 128 * 1024


@remedy
def webhook(
    failure: Failure,
    *,
    outside: RemedyContext,
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
    body = json.dumps(failure.as_plain(), default=str).encode()
    try:
        answer = post(action, body, sent, seconds=seconds, most=_LONGEST)
        text = answer.decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        cause = outside.secrets.redact(str(error))
        raise BadAnswer(remedy=action, cause=f"it does not answer ({cause})") from error
    return decision_of(text, action, outside.secrets.redact)
