"""How much memory is free, before a warehouse is read."""

from __future__ import annotations

import os

#: Less free memory than this is warned of before a collection.
LEAST_GB = 2.0


def available_gb() -> float | None:
    """The free memory in GB; None if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") / 1024**3
    except (AttributeError, ValueError, OSError):
        return None


def memory_warning(least_gb: float = LEAST_GB) -> str | None:
    """A warning if less memory is free than a collection should have."""
    free = available_gb()
    if free is None or free >= least_gb:
        return None
    return (
        f"Only {free:.1f} GB of memory is free (recommended: {least_gb:.1f} GB). "
        "Shorten --look-back, lower --limit, or free memory: without memory the system ends "
        "the process without a word."
    )
