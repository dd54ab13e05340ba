"""The remedies a row may name, with the settings of each.

Their functions are in `healing`, which this package must not import; a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any

from goldsmith.catalog.defaults import remedies_of
from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.catalog.snapshot import CatalogRows

#: Remedy → setting → type of its values.
REMEDIES: Mapping[str, Mapping[str, Any]] = {
    "deduplicate": {"keys": Sequence[str] | None},
    "evolve_schema": {"even_if_frozen": bool},
    "more_partitions": {"times": int},
    "new_session": {"limit": int},
    "open_incident": {},
    "plan_again": {},
    "quarantine_files": {},
    "quarantine_rows": {},
    "rebuild_branch": {},
    "refresh_credentials": {"limit": int},
    "reroute": {"limit": int},
    "reread_files": {"wait_seconds": float},
    "retry_later": {"wait_seconds": float | None, "limit": int},
    "roll_back": {},
    "serialise_on_target": {},
    "skip_optional": {},
    "slow_down": {"wait_seconds": float, "limit": int},
    "smaller_batches": {"files_at_once": int},
    "spill_less": {"files_at_once": int},
    "wait_for_lock": {"wait_seconds": float | None, "end_blocker_after": int | None},
    "wait_for_warehouse": {"wait_seconds": float, "limit": int},
}
#: Remedies that call something outside. The prefix of an action tells which; a script has none.
OUTSIDE: Mapping[str, Mapping[str, Any]] = {
    "lambda_function": {"seconds": float},
    "python": {},
    "script": {"seconds": float, "environment": Mapping[str, str] | None},
    "webhook": {"seconds": float, "headers": Mapping[str, str] | None},
}
#: Remedies that loosen a stage's checks or schema policy or leave out data, and what each does.
LOOSENING: Mapping[str, str] = {
    "deduplicate": "drops all but the newest row of each key",
    "evolve_schema": "evolves the target's columns where the schema policy refuses to",
    "quarantine_files": "leaves out a file that cannot be read and publishes the others",
    "quarantine_rows": "quarantines rows that fail a check or cannot be parsed and publishes the"
    " others",
    "roll_back": "takes the target back to the newest state that Goldsmith published",
}
#: With this setting, a remedy acts only on stages whose `options.remedies` names it.
ONLY_WHERE_ALLOWED = "only_where_allowed"
_BEGINS = {"arn:": "lambda_function", "https://": "webhook", "http://": "webhook"}
#: A command without a path or arguments: it could as well be a misspelt remedy.
_BARE = re.compile(r"[A-Za-z]\w*")
_PLUGINS = "goldsmith.healing.remedies"


def pairs(rows: CatalogRows) -> Iterator[HealingAction | HealingStep]:
    """Every row that names a remedy."""
    every: list[HealingAction | HealingStep] = [*rows.rows(HealingAction), *rows.rows(HealingStep)]
    yield from (row for row in every if row.action_script)


def needs_permission(row: HealingAction | HealingStep) -> bool:
    """The row's remedy acts only on stages that allow it by name.

    Shipped rows set `only_where_allowed`; for shipped rows of older catalogs it is the default.
    """
    action = str(row.action_script)
    if action not in LOOSENING:
        return False
    if ONLY_WHERE_ALLOWED in row.settings:
        return bool(row.settings[ONLY_WHERE_ALLOWED])
    return row.is_default and not row.settings and action in remedies_of(row.error_code)


def allowed_by(options: Mapping[str, Any]) -> Sequence[str]:
    """The loosening remedies that a stage's options allow by name."""
    names = options.get("remedies", ())
    return [str(name) for name in names] if isinstance(names, list | tuple) else ()


def kind_of(action: str) -> str | None:
    """The remedy that runs a row's action; None for a name that no remedy has."""
    if action in REMEDIES:
        return action
    for begins, kind in {**_BEGINS, "python:": "python"}.items():
        if action.startswith(begins):
            return kind
    if _BARE.fullmatch(action) is None:
        return "script"
    return "plugin" if entry_points(group=_PLUGINS, name=action) else None


def settings_of(kind: str) -> Mapping[str, Any] | None:
    """The settings of a remedy; None for a plugin, whose settings are not known."""
    return REMEDIES.get(kind, OUTSIDE.get(kind))
