"""The few settings of one process, environments included, read once.

Order: an environment variable, `[environments.NAME]` of goldsmith.toml, its top level, a default.
`sections.py` lists every setting; `settings.py` puts them together; start reading there.
"""

from __future__ import annotations

from goldsmith.settings.errors import BadSettings, NoProject, UnknownEnvironment, UnsafeAddress
from goldsmith.settings.settings import Setting, Settings

__all__ = [
    "BadSettings",
    "NoProject",
    "Setting",
    "Settings",
    "UnknownEnvironment",
    "UnsafeAddress",
]
