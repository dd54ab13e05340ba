"""MCONs: addresses of tables and other nodes, and the ids of tables in them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from goldsmith.errors import GoldsmithError

#: There is one account: that of this installation.
ACCOUNT = str(uuid.uuid5(uuid.NAMESPACE_URL, "goldsmith:account"))


@dataclass(eq=False, kw_only=True)
class BadMcon(GoldsmithError):
    """A text is not an MCON."""

    mcon: str

    def __str__(self) -> str:
        return f"'{self.mcon[:200]}' is not an MCON."

    @property
    def hint(self) -> str:
        return "It is MCON++ACCOUNT++RESOURCE++TYPE++ID, as getTable returns it."


@dataclass(frozen=True, slots=True)
class Mcon:
    """The parts of an address."""

    resource_uuid: str
    object_type: str
    object_id: str

    def __str__(self) -> str:
        return "++".join(("MCON", ACCOUNT, self.resource_uuid, self.object_type, self.object_id))

    @classmethod
    def parse(cls, text: str) -> Mcon:
        """The parts of an MCON; raises BadMcon."""
        parts = text.split("++", 4)
        if len(parts) != 5 or parts[0] != "MCON" or not all(parts):
            raise BadMcon(mcon=text)
        try:
            uuid.UUID(parts[1])
            resource = str(uuid.UUID(parts[2]))
        except ValueError:
            raise BadMcon(mcon=text) from None
        return cls(resource, parts[3], parts[4])


def full_table_id(database: str, schema: str, name: str) -> str:
    """`database:schema.name`."""
    return f"{database}:{schema}.{name}"


def table_mcon(resource_uuid: str, database: str, schema: str, name: str) -> str:
    """The address of a table; views are tables here."""
    return str(Mcon(resource_uuid, "table", full_table_id(database, schema, name)))
