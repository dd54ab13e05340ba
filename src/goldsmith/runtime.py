"""The open parts of one process: settings, secrets, catalog. They are opened when first used."""

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
    from goldsmith.planning.places import Places
    from goldsmith.planning.surveyor import Surveyor


@dataclass(eq=False, kw_only=True)
class NoCatalog(GoldsmithError):
    """The project's catalog has not been made."""

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
        """The parts for the project and environment of this process."""
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
        """The parts for a process whose variables and folder are these."""
        settings = Settings.load(environ, project=project, environment=environment, cwd=cwd)
        secrets = Secrets(
            environ, endpoint=settings.secrets.endpoint, region=settings.storage.region
        )
        return cls(settings=settings, secrets=secrets)

    @cached_property
    def catalog_url(self) -> str:
        """The address of a catalog that is there, with its password, for whoever connects."""
        catalog = self.settings.catalog
        if catalog.file is not None and not catalog.file.exists():
            raise NoCatalog(file=str(catalog.file))
        return with_password(catalog.url, catalog.password, self.secrets)

    @cached_property
    def catalog(self) -> Catalog:
        """The catalog, open."""
        # SQLAlchemy takes longer to load than `goldsmith status` may take in all.
        from goldsmith.catalog.catalog import Catalog

        return Catalog.open(self.catalog_url)

    @cached_property
    def journal(self) -> Journal:
        """What happened, in the catalog's own database."""
        from goldsmith.journal.journal import Journal

        return Journal(self.catalog.engine)

    @cached_property
    def surveyor(self) -> Surveyor:
        """Looks over the catalog for plans and findings."""
        from goldsmith.planning.surveyor import Surveyor

        return Surveyor(self.catalog)

    @cached_property
    def places(self) -> Places:
        """Storage and lake, as this environment binds them."""
        from goldsmith.planning.places import Places

        return Places(self.settings, self.secrets)

    def close(self) -> None:
        """Let go of what was opened."""
        if "places" in self.__dict__:
            self.places.close()
        if "catalog" in self.__dict__:
            self.catalog.close()
            del self.__dict__["catalog"]


def with_password(url: str, reference: str | None, secrets: Secrets) -> str:
    """An address as a driver takes it: the user's password is looked up and put in."""
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
