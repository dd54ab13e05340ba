"""The application: routers, the caller's role on every route, headers, errors, the page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.routing import APIRoute
from starlette.staticfiles import StaticFiles

from goldsmith.api import (
    backfills,
    catalog,
    checks,
    configuration,
    datasets,
    events,
    flags,
    gateway,
    healing,
    incidents,
    keys,
    lakehouse,
    lineage,
    plans,
    quarantine,
    queue,
    requests,
    runs,
    schedules,
    sessions,
    throttles,
    workers,
)
from goldsmith.api.access import Needs
from goldsmith.api.event_feed import EventFeed
from goldsmith.api.limits import RequestRates, refusal
from goldsmith.api.problems import PROBLEM, add_handlers
from goldsmith.runtime import Runtime

PREFIX = "/api/v1"
#: One router a noun.
ROUTERS = (
    plans.router,
    runs.router,
    requests.router,
    queue.router,
    schedules.router,
    backfills.router,
    workers.router,
    throttles.router,
    flags.router,
    events.router,
    catalog.router,
    datasets.router,
    lineage.router,
    quarantine.router,
    checks.router,
    healing.router,
    incidents.router,
    configuration.router,
    keys.router,
    sessions.router,
)
#: Routes that anybody may call: the only way to get a session is to send a key.
PUBLIC = frozenset((("POST", f"{PREFIX}/session"),))
#: The page's files, built by `make ui`; missing in a clone without a build.
PAGE = Path(__file__).parent / "page"

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; worker-src 'self' blob:; connect-src 'self'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def create_app(runtime: Runtime, *, root_path: str = "") -> FastAPI:
    """The application over one project. Refuses a route that names no role."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await app.state.feed.start()
        yield
        await app.state.feed.close()

    app = FastAPI(
        title="Goldsmith",
        version="1",
        summary="See everything, stop anything, change a row with its consequences in view.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        root_path=root_path,
        lifespan=lifespan,
        responses=dict.fromkeys((400, 401, 403, 404, 409, 413, 422, 429, 503), PROBLEM),
    )
    app.state.runtime = runtime
    app.state.hide = runtime.secrets.redact
    app.state.rates = RequestRates()
    # What a login link opens: the page, or the status where no page was built.
    app.state.home = "/" if PAGE.is_dir() else f"{PREFIX}/status"
    app.state.feed = EventFeed(runtime.journal)
    refuse_open_routes()
    add_handlers(app)
    app.middleware("http")(_with_headers)
    for router in ROUTERS:
        app.include_router(router, prefix=PREFIX)
    app.include_router(sessions.login_router)
    app.include_router(gateway.gateway_router)
    app.include_router(lakehouse.lakehouse_router)
    if PAGE.is_dir():
        app.mount("/", StaticFiles(directory=PAGE, html=True), name="page")
    return app


def roles_of(routers: Sequence[APIRouter] = ROUTERS) -> dict[tuple[str, str], Needs | None]:
    """The role each route needs, by method and path; None for a route that names no role."""
    return {
        (method, PREFIX + route.path): next(
            (
                dependency.call
                for dependency in route.dependant.dependencies
                if isinstance(dependency.call, Needs)
            ),
            None,
        )
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in sorted(route.methods or ())
    }


def refuse_open_routes(routers: Sequence[APIRouter] = ROUTERS) -> None:
    """Raise if a route names no role, unless it is one of the few that anybody may call."""
    unguarded = [route for route, needs in roles_of(routers).items() if needs is None]
    if wrong := sorted(set(unguarded) - PUBLIC):
        raise RuntimeError(f"These routes name no role: {wrong}")


async def _with_headers(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    response = refusal(request)
    if response is None:
        response = await call_next(request)
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    if request.url.path.startswith(PREFIX):
        response.headers.setdefault("Cache-Control", "no-store")
    return response
