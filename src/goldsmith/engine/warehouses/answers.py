"""Translate a warehouse's SQLSTATE into a Goldsmith error."""

from __future__ import annotations

from dataclasses import dataclass

from goldsmith.engine.warehouses.warehouse import LoadRefused, WarehouseBusy, WarehouseUnreachable
from goldsmith.errors import GoldsmithError

# Classes and codes of SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html
_UNREACHABLE = ("08", "28", "3D", "57P")
#: Serialization failure, deadlock, lock not available, insufficient resources.
_BUSY = ("40", "55P03", "55006", "53")
_CANCELLED = "57014"
#: Redshift reports this as an internal error.
_NOT_SERIAL = "serializable isolation violation"


@dataclass(eq=False, kw_only=True)
class LoadCancelled(GoldsmithError):
    """The statement of a load was cancelled in the warehouse."""

    exit_code = 1

    location: str
    cause: str

    def __str__(self) -> str:
        return f"The load of {self.location} was cancelled in the warehouse: {self.cause}"

    @property
    def hint(self) -> str:
        return "Nothing was published. A limit on the time of a statement ends loads like this too."


def failure(
    state: str | None, message: str, *, where: str, location: str, rows: tuple[str, ...] = ()
) -> GoldsmithError:
    """The Goldsmith error for a server's error; without a SQLSTATE the server is unreachable."""
    message = message.strip()
    if state is None or state.startswith(_UNREACHABLE):
        return WarehouseUnreachable(where=where, cause=message)
    if state == _CANCELLED:
        return LoadCancelled(location=location, cause=message)
    if state.startswith(_BUSY) or _NOT_SERIAL in message.lower():
        return WarehouseBusy(where=where, cause=message)
    return LoadRefused(location=location, cause=message, rows=rows)
