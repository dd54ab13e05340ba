"""Turn rows of the journal into sentences that explain a state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from goldsmith.catalog.columns import plain
from goldsmith.journal.owners import is_gone

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_MOST = 25

#: The status of a run or a stage run as a verb.
_VERBS = {
    "waiting": "waits",
    "running": "is running",
    "succeeded": "succeeded",
    "skipped": "had nothing to do",
    "failed": "failed",
    "stopped": "was stopped",
    "blocked": "is blocked",
    "interrupted": "was interrupted",
}
#: The status of a request as a verb.
_STATUS_TEXT = {
    "waiting": "waits",
    "running": "is running",
    "done": "is done",
    "failed": "failed",
    "stopped": "was stopped",
    "cancelled": "was cancelled",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """One fact that explains a state."""

    at: datetime | None
    says: str
    #: The run, the request or the table the fact is from.
    id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The state of something, and the chain of reasons, newest first."""

    subject: str
    state: str
    because: str
    reasons: tuple[Reason, ...]

    def as_plain(self) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "state": self.state,
            "because": self.because,
            "reasons": [plain(asdict(reason)) for reason in self.reasons],
        }


#: How the step of a stage run begins while it waits for tokens.
WAITING = "waiting for throttle"


def answer(subject: str, state: str, because: str, reasons: Iterable[Reason]) -> Answer:
    once = dict.fromkeys(reasons)
    newest_first = sorted(once, key=lambda reason: reason.at or _LONG_AGO, reverse=True)
    return Answer(
        subject=subject, state=state, because=because, reasons=tuple(newest_first[:_MOST])
    )


def of_stop(row: Mapping[str, Any]) -> Reason:
    """A stop: of what, by whom, why, until when."""
    kind = row["entity_type"]
    what = kind if kind == "everything" else f"{kind}:{row['entity_id']}"
    flag = row["set_in"] == "control_flags"
    did = f"stopped {what} by a flag" if flag else f"switched {what} off in its row"
    until = f" (until {row['until']:%Y-%m-%d %H:%M} UTC)" if row["until"] else ""
    says = f"{_person(row['who'])} {did}{until}{_colon(row['because'])}"
    return Reason(at=row["since"], says=_sentence(says), id=row["set_in"])


def of_run(row: Mapping[str, Any]) -> Reason:
    """The status of a run."""
    says = f"Run {row['run_id']} {_VERBS[row['status']]}"
    if row["status"] == "running" and is_gone(row["worker"]):
        says = f"Run {row['run_id']} was left by a process that is gone"
    elif row["status"] == "running" and row["asked_by"]:
        says += f", asked for by {row['asked_by']}"
    return Reason(
        at=row["ended_at"] or row["started_at"],
        says=_sentence(says + _colon(_cause(row))),
        id=row["run_id"],
    )


def is_throttled(row: Mapping[str, Any]) -> bool:
    """Whether a stage run waits for tokens of a throttle now."""
    return row["status"] == "running" and str(row["step"] or "").startswith(WAITING)


def of_stage_run(row: Mapping[str, Any]) -> Reason:
    """The status of an attempt at a stage, and its step."""
    named = f" ({row['stage_name']})" if row["stage_name"] else ""
    says = f"Stage {row['pipeline_id']}-{row['stage_order']}{named} {_VERBS[row['status']]}"
    if is_throttled(row):
        says += f", {row['step']}"
    elif row["step"] and row["status"] in ("running", "failed", "stopped", "interrupted"):
        says += f" in step '{row['step']}'"
    return Reason(
        at=row["ended_at"] or row["started_at"],
        says=_sentence(says + _colon(_cause(row))),
        id=row["run_id"],
    )


def of_request(row: Mapping[str, Any]) -> Reason:
    """The status of a request."""
    until = ""
    if row["status"] == "waiting" and row["not_before"]:
        until = f" (not before {row['not_before']:%Y-%m-%d %H:%M:%S} UTC)"
    because = row["because"]
    if row["status"] == "waiting" and not because:
        because = "its turn has not come, or no worker is running"
    says = f"Request {row['request_id']} {_STATUS_TEXT[row['status']]}{until}{_colon(because)}"
    return Reason(at=row["ended_at"] or row["asked_at"], says=_sentence(says), id=row["request_id"])


def of_event(row: Mapping[str, Any]) -> Reason:
    """An event of a run or a request."""
    facts = row["facts"] or {}
    cause = row["resolution"] or facts.get("because") or facts.get("message") or row["error_code"]
    about = facts.get("remedy") or facts.get("check_name") or facts.get("resource")
    if facts.get("remedy"):
        about = f"{about} for {row['error_code']}"
    says = _sentence_start(row["kind"]) + (f" {about}" if about else "") + _colon(cause)
    return Reason(at=row["at"], says=_sentence(says), id=row["run_id"] or row["request_id"])


def of_warning(row: Mapping[str, Any]) -> Reason:
    """A failed check that did not prevent the publish."""
    says = f"Check {row['check_name']} ({row['severity']}) did not hold{_colon(row['message'])}"
    return Reason(at=row["at"], says=_sentence(says), id=row["run_id"])


def _cause(row: Mapping[str, Any]) -> str | None:
    """The error with its code, or else the recorded reason."""
    if row["error_code"]:
        return f"{row['error_code']}{_colon(row['error_message'])}"
    because: str | None = row["because"]
    return because


def _person(who: str | None) -> str:
    return "Somebody with plain SQL" if who == "direct" else who or "Somebody"


def _colon(text: str | None) -> str:
    return f": {text}" if text else ""


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _sentence_start(kind: str) -> str:
    """`RetryScheduled` → `Retry scheduled`."""
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in kind)
    return spaced.strip().capitalize()
