"""The queue for people: each waiting request with its position, score, terms and reason."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from goldsmith.journal import waits
from goldsmith.runtime import Runtime
from goldsmith.scheduling import profiles
from goldsmith.scheduling.values import Term
from goldsmith.worker.queue_state import StageEstimates, read_queue


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueEntry:
    """One waiting request."""

    position: int
    request_id: str
    pipeline: str
    profile: str
    score: float
    terms: tuple[Term, ...]
    gate: str | None
    because: str
    expected_start: float | None
    expected_seconds: float

    def as_plain(self) -> dict[str, Any]:
        return asdict(self)


def queue_entries(runtime: Runtime) -> list[QueueEntry]:
    """The waiting requests, in the order the profile decides now."""
    queue = read_queue(runtime, StageEstimates(runtime))
    now = queue.at.timestamp()
    decisions = profiles.decide(queue.state, queue.settings, now)
    noted = waits.listed(runtime.journal)
    ordered = [(s.stage, s.score, None, now) for s in decisions.start]
    ordered += [(w.stage, w.score, w, w.expected_start or 0.0) for w in decisions.wait]  # type: ignore[misc]
    entries = []
    for position, (stage, score, wait, start) in enumerate(ordered, 1):
        settings = queue.settings[stage.profile]
        row = noted.get(stage.request_id)
        because = "a worker takes it next" if wait is None else wait.because
        entries.append(
            QueueEntry(
                position=position,
                request_id=stage.request_id,
                pipeline=stage.pipeline,
                profile=stage.profile,
                score=score,
                terms=profiles.score_terms(stage, settings, queue.state, now),
                gate=None if row is None else row.gate,
                because=because if row is None else str(row.because),
                expected_start=start or None,
                expected_seconds=stage.request_seconds,
            )
        )
    return entries
