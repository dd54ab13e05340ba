"""The load API of the raw lakehouse, as its recorded clients call it.

The tenant of the path must be that of the header X-Atlan-Tenant-Id. The header alone is believed
from this machine only, or by `lakehouse.trust_tenant_header`; otherwise a key is needed as well.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from goldsmith.api.access import KeyIsLimited, NotAllowed, identify, runtime_of
from goldsmith.errors import GoldsmithError
from goldsmith.journal.access_tables import Role
from goldsmith.journal.lakehouse_tables import RawLoad
from goldsmith.lakehouse import loads
from goldsmith.lakehouse.objects import BadLoad
from goldsmith.runtime import Runtime

lakehouse_router = APIRouter(include_in_schema=False)
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


@dataclass(eq=False, kw_only=True)
class WrongTenant(GoldsmithError):
    """The header X-Atlan-Tenant-Id is missing, or names another tenant than the path."""

    tenant: str

    def __str__(self) -> str:
        return f"The header X-Atlan-Tenant-Id does not name the tenant '{self.tenant}' of the path."

    @property
    def hint(self) -> str:
        return "Send the same tenant in the header and in the path."


@dataclass(eq=False, kw_only=True)
class TenantNotBelieved(GoldsmithError):
    """A request from another machine names its tenant and carries no key."""

    def __str__(self) -> str:
        return "A request from another machine needs a key beside its tenant."

    @property
    def hint(self) -> str:
        return (
            "Send `Authorization: Bearer KEY` with a key of the role operator; or set "
            "lakehouse.trust_tenant_header behind a proxy that sets the header."
        )


@lakehouse_router.get("/actuator/health")
async def health() -> JSONResponse:
    """Answer that loads are accepted."""
    return JSONResponse({"status": "UP"})


@lakehouse_router.post("/atlan/lh/v1/{tenant}/load")
async def submit(request: Request, tenant: str) -> JSONResponse:
    """Accept a load."""
    await run_in_threadpool(_check_tenant, request, tenant)
    raw = await request.body()
    load = await run_in_threadpool(_submit, runtime_of(request), tenant, raw)
    return JSONResponse(_answer(load), status_code=202)


@lakehouse_router.get("/atlan/lh/v1/{tenant}/load/{job_id}/status")
async def status(request: Request, tenant: str, job_id: str) -> JSONResponse:
    """Say what became of a load."""
    await run_in_threadpool(_check_tenant, request, tenant)
    header = request.headers.get("x-lakehouse-job-id")
    if header is not None and header != job_id:
        raise BadLoad(problem="X-Lakehouse-Job-Id is not the job of the path.")
    load = await run_in_threadpool(loads.find, runtime_of(request).journal, tenant, job_id)
    return JSONResponse(_answer(load))


def _submit(runtime: Runtime, tenant: str, raw: bytes) -> RawLoad:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadLoad(problem=f"the body is not JSON: {error}"[:300]) from None
    if not isinstance(body, dict):
        raise BadLoad(problem="the body is not a JSON object.")
    return loads.submit(runtime.catalog, runtime.journal, runtime.storage, tenant, body)


def _answer(load: RawLoad) -> dict[str, Any]:
    return {
        "jobId": load.load_id,
        "workflowId": load.load_id,
        "status": load.status,
        "matchedFiles": load.matched_files,
        "rowsLoaded": load.rows_loaded,
        "message": load.problem,
    }


def _check_tenant(request: Request, tenant: str) -> None:
    header = request.headers.get("x-atlan-tenant-id", "")
    if not hmac.compare_digest(header.encode("utf-8"), tenant.encode("utf-8")):
        raise WrongTenant(tenant=tenant[:200])
    if "authorization" in request.headers:
        caller = identify(request)
        if not caller.role.includes(Role.OPERATOR):
            raise NotAllowed(role=caller.role.value, needed=Role.OPERATOR.value)
        if caller.only:
            raise KeyIsLimited(only=caller.only)
    elif not (runtime_of(request).settings.lakehouse.trust_tenant_header or _is_local(request)):
        raise TenantNotBelieved()


def _is_local(request: Request) -> bool:
    """Whether a program of this machine asks us by a local name, with no proxy in between.

    The name matters because a page in a browser may point a name of its own to this machine.
    """
    if any(name in request.headers for name in _FORWARDED):
        return False
    client = request.client.host if request.client is not None else ""
    return _is_loopback(client) and _is_loopback(request.url.hostname or "")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
