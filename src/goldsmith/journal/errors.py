"""Errors of reading from and writing to the journal."""

from __future__ import annotations

from dataclasses import dataclass

from goldsmith.errors import GoldsmithError


@dataclass(eq=False, kw_only=True)
class LeaseLost(GoldsmithError):
    """Another process acquired the lease of the target this process was writing."""

    transient = True
    exit_code = 1

    resource: str
    token: int
    holder: str | None

    def __str__(self) -> str:
        held = f"{self.holder} holds it now" if self.holder else "nobody holds it now"
        return f"The lease on '{self.resource}' (token {self.token}) is lost: {held}."

    @property
    def hint(self) -> str:
        return "Nothing was published. The process was silent for longer than its lease."


@dataclass(eq=False, kw_only=True)
class UnknownRun(GoldsmithError):
    """There is no such run."""

    run_id: str
    suggestions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"There is no run '{self.run_id}'."

    @property
    def hint(self) -> str:
        meant = f"Did you mean {' or '.join(self.suggestions)}? " if self.suggestions else ""
        return f"{meant}`goldsmith runs list` shows the newest."


@dataclass(eq=False, kw_only=True)
class AlreadyOver(GoldsmithError):
    """A run or stage run that ended cannot end again."""

    exit_code = 1

    what: str
    status: str

    def __str__(self) -> str:
        return f"{self.what} is over already: {self.status}."

    @property
    def hint(self) -> str:
        return "Another process ended it, most likely because this one was silent for too long."


@dataclass(eq=False, kw_only=True)
class UnknownRequest(GoldsmithError):
    """There is no such request."""

    request_id: str

    def __str__(self) -> str:
        return f"There is no request '{self.request_id}'."

    @property
    def hint(self) -> str:
        return "`goldsmith status` shows what waits."


@dataclass(eq=False, kw_only=True)
class RequestElsewhere(GoldsmithError):
    """The request's status does not allow this change."""

    exit_code = 1

    request_id: str
    wanted: str
    status: str
    worker: str | None

    def __str__(self) -> str:
        by = f" by {self.worker}" if self.worker else ""
        return f"The request '{self.request_id}' cannot be {self.wanted}: it is {self.status}{by}."

    @property
    def hint(self) -> str:
        return f"`goldsmith why {self.request_id}` tells its story."


@dataclass(eq=False, kw_only=True)
class UnknownEntity(GoldsmithError):
    """Nothing in the catalog or the journal has this name."""

    entity: str
    suggestions: tuple[str, ...]

    def __str__(self) -> str:
        return f"Nothing is called '{self.entity}': no pipeline, dataset, stage, run or request."

    @property
    def hint(self) -> str:
        if self.suggestions:
            return f"Did you mean {' or '.join(self.suggestions)}?"
        return "Say pipeline:ID, stage:ID-ORDER, dataset:ID, run:ID, request:ID or everything."
