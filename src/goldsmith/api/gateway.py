"""The doors of the gateway, beside our own API: ingest endpoints and GraphQL.

Their keys are those of the gateway, in the headers x-mcd-id and x-mcd-token.
"""

from __future__ import annotations

import json

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from goldsmith.gateway.checking import PATHS, DoorRefusal
from goldsmith.gateway.receive import authorized, receive
from goldsmith.journal.gateway_tables import KeyScope
from goldsmith.journal.journal import Journal

gateway_router = APIRouter(include_in_schema=False)
#: What begins with these is answered by the gateway.
PREFIXES = ("/ingest/v1/", "/graphql")
_LARGEST_QUERY = 1_000_000


def _refused(refusal: DoorRefusal) -> Response:
    body = {"message": refusal.message, "details": refusal.details}
    return JSONResponse(body, status_code=refusal.status)


async def _ingest(request: Request) -> Response:
    journal: Journal = request.app.state.runtime.journal
    headers = request.headers
    path = request.url.path.partition("/ingest/v1/")[2]
    try:
        key = await run_in_threadpool(
            authorized,
            journal,
            headers.get("x-mcd-id"),
            headers.get("x-mcd-token"),
            KeyScope.INGESTION,
        )
        raw = await request.body()
        encoding = headers.get("content-encoding")
        invocation_id = await run_in_threadpool(receive, journal, key, path, raw, encoding)
    except DoorRefusal as refusal:
        return _refused(refusal)
    return JSONResponse({"invocation_id": invocation_id}, status_code=202)


for _path in PATHS:
    gateway_router.add_api_route(f"/ingest/v1/{_path}", _ingest, methods=["POST"])


@gateway_router.post("/graphql")
async def ask_graphql(request: Request) -> Response:
    """Answer a GraphQL request."""
    raw = await request.body()
    return await run_in_threadpool(_graphql, request, raw)


def _graphql(request: Request, raw: bytes) -> Response:
    # Imported on use: it takes longer than the rest of the API.
    from goldsmith.gateway.graphql import answer

    journal: Journal = request.app.state.runtime.journal
    headers = request.headers
    try:
        key = authorized(
            journal, headers.get("x-mcd-id"), headers.get("x-mcd-token"), KeyScope.GRAPHQL
        )
        if len(raw) > _LARGEST_QUERY:
            raise DoorRefusal(413, f"A query has at most {_LARGEST_QUERY:,} bytes.")
        body = json.loads(raw)
    except DoorRefusal as refusal:
        return _refused(refusal)
    except (ValueError, RecursionError) as error:
        return _refused(DoorRefusal(400, f"The body is not JSON: {error}"[:300]))
    status, found = answer(journal, key, body)
    return JSONResponse(found, status_code=status)
