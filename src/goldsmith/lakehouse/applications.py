"""Register and withdraw applications, and find one that may load."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from goldsmith.catalog.applications import Application, ApplicationStatus
from goldsmith.catalog.catalog import Catalog
from goldsmith.errors import GoldsmithError, nearest, one_of

#: A name is a table's name, part of a path, and compared as it is written.
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,126}\Z")
#: The columns of a record's key that every upsert has.
#: The tenant first: no tenant replaces records of another.
_ALWAYS_KEYS = ("tenant_id", "typename", "connection_qualified_name")
_KEY_COLUMNS = ("entity_name", "workflow_id", "workflow_run_id")


@dataclass(eq=False, kw_only=True)
class UnknownApplication(GoldsmithError):
    """No application of that name may load; the facts list those that may."""

    name: str
    status: str | None = None
    known: tuple[str, ...] = ()

    def __str__(self) -> str:
        what = "is withdrawn" if self.status else "is not registered"
        return (
            f"The application '{self.name}' {what}. Applications that may load: "
            f"{one_of(self.known, most=50)}."
        )

    @property
    def hint(self) -> str:
        meant = nearest(self.name, self.known)
        guess = f"Did you mean '{meant}'? " if meant else ""
        return f"{guess}`goldsmith applications register {self.name}` registers it."


@dataclass(eq=False, kw_only=True)
class BadApplication(GoldsmithError):
    """An application cannot be registered as given."""

    name: str
    problem: str

    def __str__(self) -> str:
        return f"The application '{self.name}' cannot be used: {self.problem}"

    @property
    def hint(self) -> str:
        return (
            "A name has 1 to 127 lower-case letters, digits, _ and -; keys are columns of the "
            f"table: {', '.join(_KEY_COLUMNS)}."
        )


def check(row: Application) -> Application:
    """The row, if its name can be a table's and its keys are columns; raises BadApplication."""
    if not _NAME.match(row.name):
        raise BadApplication(name=row.name, problem="its name cannot be the name of a table.")
    if wrong := sorted(set(row.upsert_keys) - {*_ALWAYS_KEYS, *_KEY_COLUMNS}):
        raise BadApplication(name=row.name, problem=f"it has no key column '{wrong[0]}'.")
    return row


def upsert_keys(row: Application) -> tuple[str, ...]:
    """The columns that identify a record in a load with UPSERT."""
    more = row.upsert_keys or ("entity_name",)
    return (*_ALWAYS_KEYS, *(name for name in more if name not in _ALWAYS_KEYS))


def listed(catalog: Catalog) -> list[Application]:
    """Every application, by name."""
    return sorted(catalog.snapshot().rows(Application), key=lambda row: row.name)


def active(catalog: Catalog) -> Mapping[str, Application]:
    """The applications that have tables and may load, by name."""
    return {row.name: row for row in listed(catalog) if row.status == ApplicationStatus.ACTIVE}


def find_active(catalog: Catalog, name: str) -> Application:
    """The application of a load; raises UnknownApplication unless it is ACTIVE."""
    known = active(catalog)
    if name not in known:
        row = _row(catalog, name)
        status = None if row is None else row.status
        raise UnknownApplication(name=name, status=status, known=tuple(known))
    return check(known[name])


def register(
    catalog: Catalog,
    name: str,
    *,
    actor: str,
    description: str | None = None,
    upsert_by: tuple[str, ...] = (),
    retention_days: int | None = None,
) -> Application:
    """Register an application, or make a withdrawn one ACTIVE again; unset values stay."""
    row = _row(catalog, name) or Application(name=name)
    row = row.with_(
        status=ApplicationStatus.ACTIVE.value,
        description=description if description is not None else row.description,
        upsert_keys=upsert_by or row.upsert_keys,
        retention_days=retention_days if retention_days is not None else row.retention_days,
    )
    with catalog.change(actor=actor, reason=f"register {name}") as change:
        change.put([check(row)])
    return row


def withdraw(catalog: Catalog, name: str, *, actor: str, reason: str | None = None) -> Application:
    """Withdraw an application: its loads are refused from now on, its table stays."""
    row = _row(catalog, name)
    if row is None:
        raise UnknownApplication(name=name, known=tuple(active(catalog)))
    row = row.with_(status=ApplicationStatus.WITHDRAWN.value)
    with catalog.change(actor=actor, reason=reason or f"withdraw {name}") as change:
        change.put([row])
    return row


def _row(catalog: Catalog, name: str) -> Application | None:
    return catalog.snapshot().table(Application).get((name,))
