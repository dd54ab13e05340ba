"""Sign in and out: a session cookie for a key, or for the one-time link that `serve` prints."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from goldsmith.api.access import COOKIE, NotSignedIn, OpenRuntime, Viewer, csrf_token
from goldsmith.api.models import RequestBody
from goldsmith.journal import api_keys
from goldsmith.journal.access_tables import KeyKind, Role
from goldsmith.journal.clock import read_clock
from goldsmith.runtime import Runtime

router = APIRouter(tags=["session"])
#: Outside /api: people follow this link.
login_router = APIRouter(include_in_schema=False)

SESSION_LASTS = timedelta(hours=12)
LOGIN_LINK_LASTS = timedelta(minutes=15)


class SignIn(RequestBody):
    """A key to sign in with."""

    key: str = Field(min_length=1, max_length=500, description="A key of `goldsmith keys create`.")


@router.get("/session")
def show_session(caller: Viewer, request: Request) -> dict[str, Any]:
    """Who the caller is; for a browser also the CSRF token that changes need."""
    cookie = request.cookies.get(COOKIE)
    return {
        "owner": caller.owner,
        "role": caller.role.value,
        "only": list(caller.only),
        "csrf_token": None if cookie is None else csrf_token(cookie),
    }


@router.post("/session", status_code=201)
def sign_in(
    runtime: OpenRuntime, request: Request, response: Response, body: SignIn
) -> dict[str, Any]:
    """Sign in with a key: the answer sets a session cookie."""
    made = api_keys.exchange(
        runtime.journal, body.key, kinds=(KeyKind.TOKEN,), session_for=SESSION_LASTS
    )
    if made is None:
        raise NotSignedIn()
    session, secret = made
    _set_cookie(request, response, secret)
    return {"owner": session.owner, "role": session.role, "csrf_token": csrf_token(secret)}


@router.delete("/session")
def sign_out(
    caller: Viewer, runtime: OpenRuntime, request: Request, response: Response
) -> dict[str, Any]:
    """Sign out: the session ends and its cookie is removed."""
    if request.cookies.get(COOKIE) is not None:
        api_keys.revoke(runtime.journal, caller.key_id, by=caller.owner)
        response.delete_cookie(COOKIE, path=_path(request))
    return {"owner": caller.owner, "signed_out": True}


@login_router.get("/login")
def follow_login_link(
    runtime: OpenRuntime, request: Request, key: Annotated[str, Query(max_length=500)]
) -> Response:
    """Follow the one-time link of `goldsmith serve`: sign in and go on to the page."""
    made = api_keys.exchange(
        runtime.journal, key, kinds=(KeyKind.LOGIN,), session_for=SESSION_LASTS
    )
    if made is None:
        raise NotSignedIn()
    home = f"{request.scope.get('root_path', '')}{request.app.state.home}"
    response = RedirectResponse(home, status_code=303)
    response.headers["Referrer-Policy"] = "no-referrer"
    _set_cookie(request, response, made[1])
    return response


def login_link(runtime: Runtime, address: str, *, owner: str) -> str:
    """A link that signs its follower in once, as administrator, within some minutes."""
    with runtime.journal.writing() as connection:
        _row, secret = api_keys.create(
            runtime.journal,
            owner=owner,
            role=Role.ADMIN,
            created_by=owner,
            kind=KeyKind.LOGIN,
            expires_at=read_clock(connection) + LOGIN_LINK_LASTS,
            connection=connection,
        )
    return f"{address}/login?key={secret}"


def _set_cookie(request: Request, response: Response, secret: str) -> None:
    response.set_cookie(
        COOKIE,
        secret,
        max_age=int(SESSION_LASTS.total_seconds()),
        path=_path(request),
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )


def _path(request: Request) -> str:
    return str(request.scope.get("root_path", "")) + "/"
