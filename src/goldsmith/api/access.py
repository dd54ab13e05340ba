"""Who may call a route: tokens and session cookies, roles, and keys limited to some pipelines.

Every route takes one of `Viewer`, `Operator`, `Editor` or `Admin` (or its `…OfAll` form, which
refuses limited keys); `app.py` refuses to start with a route that takes none.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from goldsmith.errors import GoldsmithError
from goldsmith.journal import api_keys
from goldsmith.journal.access_tables import KeyKind, Role
from goldsmith.planning.selection import NothingSelected, select
from goldsmith.runtime import Runtime

COOKIE = "goldsmith_session"
CSRF_HEADER = "X-CSRF-Token"
_SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))


@dataclass(eq=False, kw_only=True)
class NotSignedIn(GoldsmithError):
    """The request carries no valid key."""

    def __str__(self) -> str:
        return "The request carries no valid key."

    @property
    def hint(self) -> str:
        return (
            "Send `Authorization: Bearer KEY` with a key of `goldsmith keys create`, "
            "or sign in on the page."
        )


@dataclass(eq=False, kw_only=True)
class NotAllowed(GoldsmithError):
    """The key's role may not do this."""

    role: str
    needed: str

    def __str__(self) -> str:
        return f"The role '{self.role}' may not do this; it takes the role '{self.needed}'."

    @property
    def hint(self) -> str:
        return f"Ask for a key with the role {self.needed}: `goldsmith keys create`."


@dataclass(eq=False, kw_only=True)
class KeyIsLimited(GoldsmithError):
    """The key is limited to some pipelines, and the request reaches beyond them."""

    only: tuple[str, ...]

    def __str__(self) -> str:
        return f"The key is limited to {', '.join(self.only)}; the request reaches beyond."

    @property
    def hint(self) -> str:
        return "Use a key without that limit."


@dataclass(eq=False, kw_only=True)
class NoCsrfToken(GoldsmithError):
    """A change by cookie came without the session's CSRF token."""

    def __str__(self) -> str:
        return f"A change made with a session cookie needs the header {CSRF_HEADER}."

    @property
    def hint(self) -> str:
        return "`GET /api/v1/session` returns the token of the session."


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """The owner of a valid key."""

    owner: str
    role: Role
    key_id: str
    #: The selections the key is limited to; empty: everything.
    only: tuple[str, ...] = ()

    def pipelines(self, runtime: Runtime) -> frozenset[str] | None:
        """The pipelines the caller may see and control; None means all."""
        if not self.only:
            return None
        catalog_index = runtime.catalog_indexer.catalog_index()
        found: set[str] = set()
        for selection in self.only:
            try:
                stages = select(catalog_index, [selection])
            except NothingSelected:
                continue
            found |= {catalog_index.stages[stage].stage.pipeline_id for stage in stages}
        return frozenset(found)

    def check(self, runtime: Runtime, pipelines: Sequence[str | None]) -> None:
        """Raise KeyIsLimited unless the caller may see and control all of these pipelines."""
        allowed = self.pipelines(runtime)
        if allowed is not None and not all(pipeline in allowed for pipeline in pipelines):
            raise KeyIsLimited(only=self.only)


class Needs:
    """A dependency of a route: identify the caller and require a role."""

    def __init__(self, role: Role, *, of_all: bool = False) -> None:
        self.role = role
        self.of_all = of_all

    def __call__(self, request: Request) -> Caller:
        caller = identify(request)
        if not caller.role.includes(self.role):
            raise NotAllowed(role=caller.role.value, needed=self.role.value)
        if self.of_all and caller.only:
            raise KeyIsLimited(only=caller.only)
        return caller


def identify(request: Request) -> Caller:
    """The caller of a request; raises NotSignedIn without a valid key."""
    runtime: Runtime = request.app.state.runtime
    header = request.headers.get("authorization", "")
    scheme, _, token = header.partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        found = api_keys.find(runtime.journal, token.strip(), kinds=(KeyKind.TOKEN,))
    elif header:
        found = None
    elif cookie := request.cookies.get(COOKIE):
        found = api_keys.find(runtime.journal, cookie, kinds=(KeyKind.SESSION,))
        if found is not None and request.method not in _SAFE_METHODS:
            sent = request.headers.get(CSRF_HEADER, "")
            if not hmac.compare_digest(sent.encode("utf-8"), csrf_token(cookie).encode("ascii")):
                raise NoCsrfToken()
    else:
        found = None
    if found is None:
        raise NotSignedIn()
    return Caller(
        owner=str(found.owner), role=Role(found.role), key_id=found.key_id, only=found.limited_to
    )


def csrf_token(session: str) -> str:
    """The CSRF token of a session: only somebody who knows the cookie can compute it."""
    return hmac.new(session.encode("utf-8"), b"csrf", hashlib.sha256).hexdigest()


def runtime_of(request: Request) -> Runtime:
    """The open parts of this service."""
    runtime: Runtime = request.app.state.runtime
    return runtime


OpenRuntime = Annotated[Runtime, Depends(runtime_of)]
Viewer = Annotated[Caller, Depends(Needs(Role.VIEWER))]
ViewerOfAll = Annotated[Caller, Depends(Needs(Role.VIEWER, of_all=True))]
Operator = Annotated[Caller, Depends(Needs(Role.OPERATOR))]
OperatorOfAll = Annotated[Caller, Depends(Needs(Role.OPERATOR, of_all=True))]
EditorOfAll = Annotated[Caller, Depends(Needs(Role.EDITOR, of_all=True))]
AdminOfAll = Annotated[Caller, Depends(Needs(Role.ADMIN, of_all=True))]
