"""What one attempt at a stage does otherwise, because an earlier one failed, as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Adjust:
    """What an attempt does otherwise."""

    #: Spark settings of the stage's session.
    spark: Mapping[str, str] = field(default_factory=dict)
    schema_policy: str | None = None
    #: New files are read so many at a time, the oldest first.
    files_at_once: int | None = None
    #: One row of each of these keys is kept.
    deduplicate: Sequence[str] = ()
    #: Offending rows are kept aside instead of stopping the stage.
    quarantine: bool = False
    #: `wait`: the target is locked first; `end_blocker`: whoever holds it is ended.
    lock: str | None = None
    #: Branches of broken attempts are removed first.
    rebuild: bool = False
    #: The table is taken back to the newest state that Goldsmith published.
    roll_back: bool = False
    #: The stage is left out, because of this.
    skip: str | None = None

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Adjust:
        """From a request's options; what is not the engine's business is left out."""
        known = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in said.items() if name in known})
