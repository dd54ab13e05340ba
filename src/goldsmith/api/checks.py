"""Routes of checks: what each checks, its settings, and its names in other tools."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from goldsmith.api.access import Viewer
from goldsmith.checks.check import CHECKS, Check

router = APIRouter(prefix="/checks", tags=["checks"])


@router.get("")
def list_checks(caller: Viewer) -> list[dict[str, Any]]:
    """Every check with its settings."""
    return [_plain(name, check) for name, check in CHECKS.all()]


@router.get("/{name}")
def show_check(caller: Viewer, name: str) -> dict[str, Any]:
    """One check: its condition and its settings."""
    return _plain(name, CHECKS.get(name))


def _plain(name: str, check: Check) -> dict[str, Any]:
    return {
        "check": name,
        "of": "rows" if check.is_row_check else "dataset",
        "cost": check.cost.value,
        "doc": check.documentation,
        "settings": [
            {
                "name": setting.name,
                "takes": setting.kind,
                "required": setting.is_required,
                "default": None if setting.default is None else str(setting.default),
            }
            for setting in check.settings.values()
        ],
    }
