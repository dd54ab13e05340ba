"""Routes of the settings: every setting and its origin, secrets hidden."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from goldsmith.api.access import AdminOfAll, OpenRuntime
from goldsmith.credentials import displayed

router = APIRouter(prefix="/settings", tags=["settings"])


@router.get("")
def list_settings(caller: AdminOfAll, runtime: OpenRuntime) -> dict[str, Any]:
    """Every setting, its value and its origin; secrets are hidden."""
    settings = runtime.settings
    return {
        "project": str(settings.project),
        "environment": settings.environment,
        "settings": [
            {
                "name": value.name,
                "value": displayed(value.name, value.shown),
                "origin": value.origin,
                "doc": value.doc,
            }
            for value in settings.values
        ],
    }
