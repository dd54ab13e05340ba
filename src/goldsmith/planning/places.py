"""Where things really are in this environment, and the connections to get there."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldsmith.credentials import Secrets, is_reference
from goldsmith.settings.sections import LakeCatalog, StorageKind, sqlite_file
from goldsmith.settings.settings import Settings

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

#: Spark's and pyiceberg's name of the lake's list of tables.
LAKE = "lake"


class Places:
    """Storage and lake, as an environment binds them; connections are made when used."""

    def __init__(self, settings: Settings, secrets: Secrets) -> None:
        self.settings = settings
        self.secrets = secrets

    def address(self, location: str) -> str:
        """What an s3:// address of the catalog is here."""
        return self.settings.address(location)

    def catalog_address(self, real: str) -> str:
        """What the catalog calls a real place."""
        return self.settings.catalog_address(real)

    def secret(self, reference: str | None) -> str | None:
        return None if reference is None else self.secrets.resolve(reference).reveal()

    def forget(self) -> None:
        """Let go of clients: the next ones look credentials up again."""
        for name in ("_s3", "_lake", "_lake_io"):
            self.__dict__.pop(name, None)

    def s3(self) -> Any:
        """An S3 client for the environment's storage."""
        return self._s3

    @cached_property
    def _s3(self) -> Any:
        import boto3
        from botocore.config import Config

        storage = self.settings.storage
        style = "path" if storage.path_style else "auto"
        return boto3.client(
            "s3",
            endpoint_url=storage.endpoint,
            region_name=storage.region,
            aws_access_key_id=self.secret(storage.access_key),
            aws_secret_access_key=self.secret(storage.secret_key),
            config=Config(
                s3={"addressing_style": style}, retries={"max_attempts": 5, "mode": "standard"}
            ),
        )

    def lake(self) -> Any | None:
        """The lake's list of tables by pyiceberg; None where nothing was ever written."""
        if "_lake" not in self.__dict__:
            file = self._lake_file
            if file is not None and not file.exists():
                return None
        return self._lake

    @cached_property
    def _lake(self) -> Any:
        from pyiceberg.catalog import load_catalog

        return load_catalog(LAKE, **self._lake_properties(self._lake_file))

    @property
    def _lake_file(self) -> Path | None:
        """The file with the lake's list of tables, where it is in one."""
        lake = self.settings.lake
        return sqlite_file(lake.uri) if lake.catalog is LakeCatalog.JDBC and lake.uri else None

    def lake_io(self) -> Any:
        """What reads the lake's files by pyiceberg."""
        return self._lake_io

    @cached_property
    def _lake_io(self) -> Any:
        from pyiceberg.io import load_file_io

        return load_file_io(self._lake.properties)

    def close(self) -> None:
        """Let go of connections that were made."""
        if "_lake" in self.__dict__:
            self._lake.close()
            del self.__dict__["_lake"]

    def lake_url(self) -> URL:
        """The PostgreSQL with the lake's list of tables, its password in it."""
        from sqlalchemy.engine import make_url

        lake = self.settings.lake
        url = make_url(lake.uri or "")
        password = self.secret(lake.password)
        return url if password is None else url.set(password=password)

    def lake_options(self) -> dict[str, str]:
        """Further properties of the lake's list, secrets looked up."""
        return {
            name: self.secrets.resolve(value).reveal() if is_reference(value) else value
            for name, value in self.settings.lake.options.items()
        }

    def _lake_properties(self, file: Path | None) -> dict[str, str]:
        lake, storage = self.settings.lake, self.settings.storage
        said: dict[str, str | None] = {"warehouse": self.address(lake.warehouse or "")}
        if lake.catalog is LakeCatalog.GLUE:
            said |= {
                "type": "glue",
                "glue.endpoint": lake.glue_endpoint,
                "glue.region": storage.region,
                "glue.access-key-id": self.secret(storage.access_key),
                "glue.secret-access-key": self.secret(storage.secret_key),
            }
        elif lake.catalog is LakeCatalog.REST:
            said |= {"type": "rest", "uri": lake.uri}
        else:
            uri = f"sqlite:///{file}" if file is not None else self._lake_database()
            # Spark makes the tables of the list; a plan must not write.
            said |= {"type": "sql", "uri": uri, "init_catalog_tables": "false"}
        if storage.kind is StorageKind.S3:
            said |= {
                "s3.endpoint": storage.endpoint,
                "s3.region": storage.region,
                "s3.access-key-id": self.secret(storage.access_key),
                "s3.secret-access-key": self.secret(storage.secret_key),
                "s3.force-virtual-addressing": "false" if storage.path_style else "true",
            }
        said |= self.lake_options()
        return {name: value for name, value in said.items() if value is not None}

    def _lake_database(self) -> str:
        lake = self.settings.lake
        url = self.lake_url().set(drivername="postgresql+psycopg")
        url = url.update_query_dict({"options": f"-csearch_path={lake.schema}"})
        return url.render_as_string(hide_password=False)
