"""Options given to a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from goldsmith.planning.window import Window, moment


@dataclass(frozen=True, kw_only=True, slots=True)
class Replay:
    """Which quarantined rows to run through their stage again, and where their fixes are."""

    #: A SELECT over the view `quarantined`.
    sql: str | None = None
    #: A file of fixed rows.
    file: str | None = None
    #: Only rows that this run quarantined.
    run_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions:
    """Options given to a run: a full refresh, a row limit, a window …"""

    full_refresh: bool = False
    limit: int | None = None
    #: Read only the input of this window, again.
    window: Window | None = None
    #: Restore the target to its state after this stage run.
    as_of: str | None = None
    #: Replay quarantined rows instead of reading new input.
    replay: Replay | None = None

    @classmethod
    def of(cls, options: Any) -> RunOptions:
        since, until, replay = options.get("from"), options.get("to"), options.get("replay")
        return cls(
            full_refresh=bool(options.get("full_refresh", False)),
            limit=options.get("limit"),
            window=None if since is None else Window(start=moment(since), end=moment(until)),
            as_of=options.get("as_of"),
            replay=None if replay is None else Replay(**replay),
        )
