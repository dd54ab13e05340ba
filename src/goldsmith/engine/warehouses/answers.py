"""What a warehouse's refusals mean: its SQLSTATE, as an error of ours."""

from __future__ import annotations

from dataclasses import dataclass

from goldsmith.engine.warehouses.warehouse import LoadRefused, WarehouseBusy, WarehouseUnreachable
from goldsmith.errors import GoldsmithError

# Classes and codes of SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html
_UNREACHABLE = ("08", "28", "3D", "57P")
#: Serialization, deadlock, a lock that was not given, too little of something.
_BUSY = ("40", "55P03", "55006", "53")
_CANCELLED = "57014"
#: Redshift says this as an internal error.
_NOT_SERIAL = "serializable isolation violation"


@dataclass(eq=False, kw_only=True)
class LoadCancelled(GoldsmithError):
    """Somebody cancelled the statement of a load in the warehouse."""

    exit_code = 1

    location: str
    cause: str

    def __str__(self) -> str:
        return f"The load of {self.location} was cancelled in the warehouse: {self.cause}"

    @property
    def hint(self) -> str:
        return "Nothing was published. A limit on the time of a statement ends loads like this too."


def failure(
    state: str | None, said: str, *, where: str, location: str, rows: tuple[str, ...] = ()
) -> GoldsmithError:
    """The error of ours for what a server said; one that says no state is gone."""
    said = said.strip()
    if state is None or state.startswith(_UNREACHABLE):
        return WarehouseUnreachable(where=where, cause=said)
    if state == _CANCELLED:
        return LoadCancelled(location=location, cause=said)
    if state.startswith(_BUSY) or _NOT_SERIAL in said.lower():
        return WarehouseBusy(where=where, cause=said)
    return LoadRefused(location=location, cause=said, rows=rows)
