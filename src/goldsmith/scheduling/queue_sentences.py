"""The sentences of a queue: why each stage waits, and when it is expected to start."""

from __future__ import annotations

from goldsmith.scheduling.values import Decisions, SchedulerState, Wait

_SENTENCES = {
    "slots": "All {slots} slots are in use by stages with a higher score.",
    "critical": "Critical work has all {slots} slots.",
    "yield": "It starts when a running stage yields at its next micro-batch.",
    "price": "It can wait, and slots are cheaper in a later hour.",
}


def explain_waits(decided: Decisions, state: SchedulerState, now: float) -> tuple[Wait, ...]:
    """The stages that wait, in order, with sentence and expected start."""
    slots = max(1, state.slots)
    ahead = sum(item.stage.seconds for item in state.running)
    ahead += sum(start.stage.seconds for start in decided.start)
    found: list[Wait] = []
    for position, (stage, score, reason) in enumerate(decided.ranked, start=1):
        start = now + ahead / slots if state.slots > 0 else None
        found.append(Wait(stage, score, position, sentence_of(reason, state.slots), start))
        ahead += stage.seconds
    return tuple(found)


def sentence_of(reason: str, slots: int) -> str:
    """The sentence for the code of a reason."""
    kind, _, detail = reason.partition(" ")
    if kind == "endpoint":
        return f"More load now would make a hotspot of {detail.replace(':', ' ', 1)}."
    if kind == "limit":
        return f"Its profile already runs max_concurrent_tasks = {detail} stages."
    if slots <= 0:
        return "No worker is alive."
    return _SENTENCES[kind].format(slots=slots)
