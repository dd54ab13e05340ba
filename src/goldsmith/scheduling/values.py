"""The values that scheduling decides over. Times are seconds since 1970, UTC."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

#: The profile of a pipeline without a row in `pipeline_profiles`.
BALANCED = "balanced"
FOCUS = "focus"
CRITICAL = "critical"
LOW = "low"


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """What a stage is expected to take."""

    seconds: float
    records: float
    bytes: float
    #: Slot-seconds × price.
    cost: float
    #: Where the numbers come from: `median of 10 runs`, `prior`.
    basis: str
    #: A plausible upper value of `seconds`: median + 3 × scaled MAD.
    seconds_high: float = 0.0
    #: No run of the stage is known.
    is_prior: bool = False


@dataclass(frozen=True, slots=True)
class QueuedStage:
    """A stage that may start or continue now, as far as the gates before the profile see."""

    #: Unique in one state: `request_id/stage_order`, or only the request's id.
    key: str
    request_id: str
    pipeline: str
    #: When the request arrived (its due time for a scheduled start).
    arrived: float
    #: When this stage became ready: its predecessors had published.
    ready: float
    #: Estimated seconds still to run, of this stage alone.
    seconds: float
    #: Estimated seconds still to run of the whole request, this stage included.
    request_seconds: float
    #: Estimated seconds of the whole request, what is done included.
    request_total: float = 0.0
    profile: str = BALANCED
    #: pipelines.criticality; None: not set in the row.
    criticality: str | None = None
    #: Datasets, `""` if there is none. A endpoint's name is `source:ID` or `target:ID`.
    source: str = ""
    target: str = ""
    #: Estimated bytes per second while it runs.
    bytes_per_second: float = 0.0
    #: Waiting or scheduled requests downstream (`after`), transitively.
    dependants: int = 0
    #: A critical request of a profile that preempts waits for this one: it is promoted.
    needed_by_critical: bool = False
    #: The latest start that still meets the deadline, and ends before the next start of its
    #: schedule; None: neither is known.
    start_by: float | None = None
    #: A backfill: lower priority, with a floor of its own.
    backfill: bool = False
    #: It ran already and yielded; its staged batches are kept.
    paused: bool = False
    #: When it could have started first: it had arrived, and what it waits for had ended.
    entered: float = 0.0
    #: Seconds from `entered` to its end if all requests shared the slots fairly; 0: unknown.
    fair_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RunningStage:
    """A stage that holds a slot."""

    stage: QueuedStage
    started: float
    #: When it reaches its next micro-batch; a stage without micro-batches: its expected end.
    next_batch: float
    #: The time at which it was asked to yield; None: it was not.
    yielding_since: float | None = None


@dataclass(frozen=True, slots=True)
class PlaceLoad:
    """The load on one source or target."""

    #: Bytes in the last 60 seconds.
    last_minute: float
    #: Mean bytes per minute while it was in use, over the history that is kept.
    mean_per_minute: float
    #: Seconds in use that the mean covers.
    seconds_in_use: float = 0.0


@dataclass(frozen=True, slots=True)
class ProfileSettings:
    """The settings of one profile, from `profile_settings`; docs/scheduling.md explains each."""

    profile: str = BALANCED
    priority_weight_critical: float = 4.0
    priority_weight_normal: float = 2.0
    priority_weight_noncritical: float = 1.0
    #: 0: as many as there are slots.
    max_concurrent_tasks: float = 0.0
    aging_minutes: float = 30.0
    #: 1: other stages yield to critical ones.
    preempt: float = 0.0
    preempt_grace_sec: float = 10.0
    noncritical_floor: float = 0.0
    spread_starts: float = 1.0
    peak_to_mean: float = 1.5
    #: 1: a long stage yields at a micro-batch to a much shorter one.
    yield_to_shorter: float = 1.0
    downstream_weight: float = 0.1
    #: How much longer than its own estimate a stage may wait for a flat load or a low price.
    defer_factor: float = 1.0
    backfill_weight: float = 0.25
    #: Price of a slot-second in each hour of the day, UTC.
    prices: tuple[float, ...] = (1.0,) * 24


@dataclass(frozen=True, slots=True)
class SchedulerState:
    """Everything that `decide` depends on."""

    #: Slots of all live workers together.
    slots: int
    waiting: tuple[QueuedStage, ...]
    running: tuple[RunningStage, ...]
    loads: Mapping[str, PlaceLoad] = field(default_factory=dict)
    #: Seconds of one micro-batch.
    batch_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a score."""

    name: str
    value: float
    because: str


@dataclass(frozen=True, slots=True)
class Start:
    """Start (or continue) this stage now."""

    stage: QueuedStage
    score: float


@dataclass(frozen=True, slots=True)
class Wait:
    """Leave this stage waiting."""

    stage: QueuedStage
    score: float
    #: From 1 in the order of the queue.
    position: int
    #: A sentence for people.
    because: str
    #: Estimated start; None: the queue gives no estimate.
    expected_start: float | None = None


@dataclass(frozen=True, slots=True)
class Yield:
    """Take the slot of this running stage at its next micro-batch."""

    running: RunningStage
    because: str
    #: Stop and requeue the stage if it still holds its slot at this time; None: let it go on.
    stop_at: float | None


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions, which the caller carries out; nothing is remembered between two calls."""

    #: In this order.
    start: tuple[Start, ...]
    #: All stages that are to yield now; a stage that is not in it any more may go on.
    yields: tuple[Yield, ...]
    #: The queue: stages that wait, in order, with their scores and the code of their reason.
    ranked: tuple[tuple[QueuedStage, float, str], ...]
    explain: Callable[[Decisions], tuple[Wait, ...]] | None = None

    @property
    def wait(self) -> tuple[Wait, ...]:
        """The stages that wait, with a sentence each; made when it is read."""
        return () if self.explain is None else self.explain(self)


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """The answer of one gate."""

    open: bool
    because: str = ""
    #: When to ask again, if the gate knows.
    not_before: float | None = None
