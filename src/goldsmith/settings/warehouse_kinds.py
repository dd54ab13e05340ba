"""Which settings each kind of warehouse needs; a kind is a folder of `engine/warehouses`.

The registry imports the declaration of a kind by its name. So a new kind needs no list here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from goldsmith.registry import Registry

#: The kind that needs no server: the default where no server is set.
EMBEDDED_KIND = "duckdb"
PACKAGE = "goldsmith.engine.warehouses"


@dataclass(frozen=True, kw_only=True)
class WarehouseNeeds:
    """The settings of one kind of warehouse."""

    #: Settings that must have a value.
    required: tuple[str, ...] = ()
    default_port: int | None = None
    #: Staged files must be on S3, because the warehouse itself reads them.
    stages_on_s3: bool = False
    #: The data is in a file of this machine.
    is_embedded: bool = False


KINDS: Registry[WarehouseNeeds] = Registry(
    "kind of warehouse", package=PACKAGE, kind=WarehouseNeeds, file="kind"
)


@cache
def shipped_types() -> tuple[str, ...]:
    """The values of `targets.type` that are warehouses: each shipped kind has one."""
    return KINDS.shipped()
