"""The URL of a PostgreSQL database in the driver's format."""

from __future__ import annotations

import re

from goldsmith.catalog.errors import CatalogUnreachable


def libpq_url(url: str) -> str:
    """The URL without SQLAlchemy's driver name; raises CatalogUnreachable if libpq rejects it."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    plain = re.sub(r"^postgresql\+\w+", "postgresql", url)
    try:
        conninfo_to_dict(plain)
    except ProgrammingError as error:
        # Not chained: the cause quotes the URL, which may contain a password.
        raise CatalogUnreachable.of(url, error) from None
    return plain
