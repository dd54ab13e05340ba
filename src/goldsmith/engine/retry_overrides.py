"""What an attempt at a stage does differently because an earlier attempt failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class RetryOverrides:
    """The overrides of one attempt, as healing decided them."""

    #: Spark settings of the stage's session.
    spark: Mapping[str, str] = field(default_factory=dict)
    schema_policy: str | None = None
    #: How many new files to read per attempt, the oldest first.
    files_at_once: int | None = None
    #: Key columns; only the newest row of each key is kept.
    deduplicate: Sequence[str] = ()
    #: Quarantine broken rows instead of failing the stage.
    quarantine: bool = False
    #: `wait`: lock the target first; `end_blocker`: end the session that blocks it.
    lock: str | None = None
    #: `source` or `target` refused load: halve the rate in effect of its throttles.
    lower_rate: str | None = None
    #: Drop branches of broken attempts first.
    rebuild: bool = False
    #: Roll the table back to the newest snapshot that Goldsmith published.
    roll_back: bool = False
    #: The reason to leave the stage out.
    skip: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> RetryOverrides:
        """From a request's options; keys that are no override of the engine are ignored."""
        known = {override.name for override in fields(cls)}
        return cls(**{name: value for name, value in options.items() if name in known})
