"""Retry policies and healing: what to do about an error, how often, after which wait."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldsmith.catalog.columns import ColumnKind, flag, key, mapping, number, text, whole
from goldsmith.catalog.rows import Row, table


@table(
    "retry_policies",
    purpose="How often a failed stage is retried, and after which wait.",
    read_by="healing",
    takes_effect="at the next failure",
)
class RetryPolicy(Row):
    """Whether and when a failed stage is retried."""

    retry_id: str = key(doc="The policy's name.")
    max_retries: int = whole(default=0, doc="Attempts after the first.", least=0)
    backoff_sec: int = whole(default=0, doc="The first wait, in seconds.", least=0)
    multiplier: float = number(
        default=1.0, doc="Each further wait is longer by this factor.", least=0
    )
    max_backoff_sec: int | None = whole(default=None, doc="The longest wait, in seconds.", least=0)
    jitter: float = number(default=0.0, doc="Share of the wait that is random.", least=0, most=1)
    is_default: bool = flag(default=False, doc="Shipped with Goldsmith.", internal=True)


@table(
    "healing_actions",
    purpose="Error → remedy pairs: the first remedy for each error code.",
    read_by="healing",
    takes_effect="at the next failure",
)
class HealingAction(Row):
    """The first remedy of an error code."""

    error_code: str = key(doc="The code of the error, as `goldsmith errors list` spells it.")
    action_script: str | None = text(
        default=None,
        doc="A built-in remedy by name, a script, a webhook, a Lambda ARN or `python:module:name`.",
    )
    settings: Mapping[str, Any] = mapping(default=None, doc="The remedy's settings.")
    max_uses: int | None = whole(default=None, doc="Most uses in one request; unset: 3.", least=0)
    success_floor: float | None = number(
        default=None, doc="Switched off if its share of successes is lower.", least=0, most=1
    )
    enabled: bool = flag(default=True, doc="False: the pair is not used.")
    is_default: bool = flag(default=False, doc="Shipped with Goldsmith.", internal=True)


@table(
    "healing_steps",
    purpose="Further remedies of an error code, tried in order after the first.",
    read_by="healing",
    takes_effect="at the next failure",
)
class HealingStep(Row):
    """A further remedy of an error code."""

    error_code: str = key(doc="The code of the error.")
    step_order: int = key(kind=ColumnKind.WHOLE, doc="2, 3 …: its order after the first remedy.")
    action_script: str | None = text(default=None, doc="As in `healing_actions`.")
    settings: Mapping[str, Any] = mapping(default=None, doc="The remedy's settings.")
    max_uses: int | None = whole(default=None, doc="Most uses in one request; unset: 3.", least=0)
    success_floor: float | None = number(
        default=None, doc="Switched off if its share of successes is lower.", least=0, most=1
    )
    enabled: bool = flag(default=True, doc="False: the step is not used.")
    is_default: bool = flag(default=False, doc="Shipped with Goldsmith.", internal=True)


@table(
    "healing_limits",
    purpose="Limits on how often healing acts.",
    read_by="healing",
    takes_effect="at the next failure",
)
class HealingLimit(Row):
    """One limit of healing."""

    limit_name: str = key(
        doc="uses_per_day, breaker_failures, breaker_minutes, pipeline_failures_per_day, "
        "floor_least_uses, worker_deaths.",
    )
    limit_value: float = number(default=0.0, doc="Its value.", least=0)
    is_default: bool = flag(default=False, doc="Shipped with Goldsmith.", internal=True)
