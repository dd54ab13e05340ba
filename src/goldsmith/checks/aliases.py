"""Names and settings of other tools' checks, read as ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def translated(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """An entry of a check_def by our names."""
    return entry
