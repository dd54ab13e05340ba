"""Errors as `application/problem+json`: the code, the sentence, the hint and the facts."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from goldsmith.errors import GoldsmithError, plain_facts

MEDIA_TYPE = "application/problem+json"
#: HTTP status by error code, where the rules of `status_of` do not fit.
_STATUS: Mapping[str, int] = {
    "BadFiles": 422,
    "CatalogHasErrors": 422,
    "CatalogMoved": 409,
    "CannotUndo": 409,
    "AlreadyOver": 409,
    "EverythingStopped": 409,
    "IncidentClosed": 409,
    "KeyUsedForAnother": 422,
    "NotAllowed": 403,
    "KeyIsLimited": 403,
    "NotSignedIn": 401,
    "NoCsrfToken": 403,
    "TenantNotBelieved": 401,
    "UnknownApplication": 400,
    "WrongTenant": 403,
    "NotInLineage": 404,
    "NothingSelected": 404,
    "NothingToStop": 404,
    "RequestElsewhere": 409,
    "RowChanged": 412,
    "StillAnswering": 409,
    "TooManyRequests": 429,
    "BodyTooLarge": 413,
}
#: The OpenAPI documentation of an error.
PROBLEM: dict[str, Any] = {
    "description": "The request was refused or failed.",
    "content": {
        MEDIA_TYPE: {
            "schema": {
                "type": "object",
                "required": ["type", "title", "status", "code", "detail", "hint", "facts"],
                "properties": {
                    "type": {"type": "string", "description": "Where the code is documented."},
                    "title": {"type": "string"},
                    "status": {"type": "integer"},
                    "code": {"type": "string", "description": "The error code."},
                    "detail": {"type": "string", "description": "The error in one sentence."},
                    "hint": {"type": "string", "description": "What to do next."},
                    "facts": {"type": "object"},
                },
            },
            "example": {
                "type": "/docs/errors#UnknownRun",
                "title": "UnknownRun",
                "status": 404,
                "code": "UnknownRun",
                "detail": "There is no run 'run-1'.",
                "hint": "`goldsmith runs list` lists the runs.",
                "facts": {"run_id": "run-1"},
            },
        }
    },
}
logger = logging.getLogger(__name__)


def status_of(error: GoldsmithError) -> int:
    """The HTTP status of an error."""
    if error.code in _STATUS:
        return _STATUS[error.code]
    if error.transient:
        return 503
    if error.code.startswith("Unknown"):
        return 404
    return 400 if error.exit_code == 2 else 409


def add_handlers(app: FastAPI) -> None:
    """Answer every error of the application in one shape."""
    app.add_exception_handler(GoldsmithError, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


def answer(
    request: Request,
    *,
    status: int,
    code: str,
    detail: str,
    hint: str = "",
    facts: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """One problem; secrets in its texts are redacted."""
    hide = request.app.state.hide
    body = {
        "type": f"{request.scope.get('root_path', '')}/docs/errors#{code}",
        "title": code,
        "status": status,
        "code": code,
        "detail": hide(detail),
        "hint": hide(hint),
        "facts": plain_facts(facts or {}, hide),
    }
    return JSONResponse(
        body, status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {})
    )


async def _known(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, GoldsmithError)
    return answer_error(request, error)


def answer_error(request: Request, error: GoldsmithError) -> JSONResponse:
    """An error of ours as a problem."""
    status = status_of(error)
    headers = {"WWW-Authenticate": 'Bearer realm="goldsmith"'} if status == 401 else {}
    if status in (429, 503):
        headers["Retry-After"] = "1"
    return answer(
        request,
        status=status,
        code=error.code,
        detail=str(error),
        hint=error.hint,
        facts=error.facts,
        headers=headers,
    )


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    wrong = [
        {"where": ".".join(str(part) for part in found["loc"]), "what": str(found["msg"])}
        for found in error.errors()
    ]
    first = wrong[0] if wrong else {"where": "body", "what": "not valid"}
    return answer(
        request,
        status=422,
        code="BadRequest",
        detail=f"{first['where']}: {first['what']}.",
        hint="The OpenAPI document at /api/v1/openapi.json says what the request takes.",
        facts={"wrong": wrong},
    )


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return answer(
        request,
        status=error.status_code,
        code={404: "NoSuchRoute", 405: "MethodNotAllowed"}.get(error.status_code, "BadRequest"),
        detail=str(error.detail),
        hint="The OpenAPI document at /api/v1/openapi.json lists the routes.",
        headers=error.headers,
    )


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    logger.error("a request failed unexpectedly", exc_info=error)
    return answer(
        request,
        status=500,
        code="Unexpected",
        detail="The service failed unexpectedly.",
        hint="The service's log has the stack trace.",
    )
