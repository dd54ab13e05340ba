"""The parts of one process: settings, secrets, catalog, journal, storage; opened on first use."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from goldsmith.credentials import Secrets
from goldsmith.errors import GoldsmithError
from goldsmith.settings.errors import NoProject
from goldsmith.settings.settings import Settings

if TYPE_CHECKING:
    from goldsmith.catalog.catalog import Catalog
    from goldsmith.journal.journal import Journal
    from goldsmith.planning.catalog_indexer import CatalogIndexer
    from goldsmith.storage.storage import Storage


@dataclass(eq=False, kw_only=True)
class NoCatalog(GoldsmithError):
    """The project's catalog does not exist."""

    file: str

    def __str__(self) -> str:
        return f"There is no catalog at {self.file}."

    @property
    def hint(self) -> str:
        return (
            "`goldsmith init DIR` makes a project with one; "
            "`goldsmith catalog migrate` makes the catalog of this project."
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Runtime:
    """The parts of one process; functions take the ones they use."""

    settings: Settings
    secrets: Secrets

    @classmethod
    def open(cls, project: Path | None = None, environment: str | None = None) -> Runtime:
        """The runtime of this process's project and environment."""
        return cls.of(
            os.environ, project=project, environment=environment, cwd=_current_folder(project)
        )

    @classmethod
    def of(
        cls,
        environ: Mapping[str, str],
        *,
        project: Path | None,
        environment: str | None,
        cwd: Path,
    ) -> Runtime:
        """The runtime for given environment variables and current folder."""
        settings = Settings.load(environ, project=project, environment=environment, cwd=cwd)
        secrets = Secrets(
            environ, endpoint=settings.secrets.endpoint, region=settings.storage.region
        )
        return cls(settings=settings, secrets=secrets)

    @cached_property
    def catalog_url(self) -> str:
        """The URL of the catalog with its password; raise NoCatalog if its file does not exist."""
        catalog = self.settings.catalog
        if catalog.file is not None and not catalog.file.exists():
            raise NoCatalog(file=str(catalog.file))
        return with_password(catalog.url, catalog.password, self.secrets)

    @cached_property
    def catalog(self) -> Catalog:
        """The open catalog."""
        # Importing SQLAlchemy takes longer than `goldsmith status` may take in total.
        from goldsmith.catalog.catalog import Catalog

        return Catalog.open(self.catalog_url)

    @cached_property
    def journal(self) -> Journal:
        """The journal, in the catalog's database."""
        from goldsmith.journal.journal import Journal

        return Journal(self.catalog.engine)

    @cached_property
    def catalog_indexer(self) -> CatalogIndexer:
        """Builds the catalog index for plans and findings."""
        from goldsmith.planning.catalog_indexer import CatalogIndexer

        return CatalogIndexer(self.catalog)

    @cached_property
    def storage(self) -> Storage:
        """Storage and lake of this environment."""
        from goldsmith.storage.storage import Storage

        return Storage(self.settings, self.secrets)

    @property
    def log_file(self) -> Path:
        """The log file of runs: the setting `logs.file`, else a file in the project."""
        configured: Path | None = self.settings.logs.file
        return configured or Path(self.settings.project) / ".goldsmith" / "logs" / "runs.jsonl"

    def close(self) -> None:
        """Close the open parts."""
        if "storage" in self.__dict__:
            self.storage.close()
        if "catalog" in self.__dict__:
            self.catalog.close()
            del self.__dict__["catalog"]


def with_password(url: str, reference: str | None, secrets: Secrets) -> str:
    """A database URL with the user's password looked up and inserted."""
    if reference is None:
        return url
    from urllib.parse import quote

    scheme, _, rest = url.partition("://")
    server, slash, database = rest.partition("/")
    user, _, host = server.rpartition("@")
    password = quote(secrets.resolve(reference).reveal(), safe="")
    return f"{scheme}://{user.partition(':')[0]}:{password}@{host}{slash}{database}"


def _current_folder(project: Path | None) -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        if project is not None and project.is_absolute():
            return project
        raise NoProject(looked="the current folder, which is gone") from None
