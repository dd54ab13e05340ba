"""Real locations of an environment, and clients for S3 and the Iceberg catalog."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldsmith.credentials import Secrets, is_reference
from goldsmith.settings.sections import LakeCatalog, StorageKind, sqlite_file
from goldsmith.settings.settings import Settings

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

#: The name of the Iceberg catalog in Spark and pyiceberg.
LAKE = "lake"


class Storage:
    """Storage and lake of an environment; clients are created on first use."""

    def __init__(self, settings: Settings, secrets: Secrets) -> None:
        self.settings = settings
        self.secrets = secrets

    def address(self, location: str) -> str:
        """The real location of a catalog address in this environment."""
        return self.settings.address(location)

    def catalog_address(self, real: str) -> str:
        """The catalog address of a real location."""
        return self.settings.catalog_address(real)

    def secret(self, reference: str | None) -> str | None:
        return None if reference is None else self.secrets.resolve(reference).reveal()

    def forget(self) -> None:
        """Drop the clients; new ones look up credentials again."""
        self.close()
        for name in ("_s3", "_s3_for_probes", "_lake_io"):
            self.__dict__.pop(name, None)

    def s3(self) -> Any:
        """An S3 client for the environment's storage."""
        return self._s3

    def s3_for_probes(self) -> Any:
        """An S3 client that gives up after seconds: a probe must not wait as a read does."""
        return self._s3_for_probes

    @cached_property
    def _s3(self) -> Any:
        return self._s3_client(retries={"max_attempts": 5, "mode": "standard"})

    @cached_property
    def _s3_for_probes(self) -> Any:
        return self._s3_client(
            retries={"max_attempts": 1, "mode": "standard"}, connect_timeout=3, read_timeout=5
        )

    def _s3_client(self, **config: Any) -> Any:
        import boto3
        from botocore.config import Config

        storage_settings = self.settings.storage
        style = "path" if storage_settings.path_style else "auto"
        return boto3.client(
            "s3",
            endpoint_url=storage_settings.endpoint,
            region_name=storage_settings.region,
            aws_access_key_id=self.secret(storage_settings.access_key),
            aws_secret_access_key=self.secret(storage_settings.secret_key),
            config=Config(s3={"addressing_style": style}, **config),
        )

    def lake(self) -> Any | None:
        """The Iceberg catalog by pyiceberg; None if its SQLite file does not exist yet."""
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
        """The SQLite file of the Iceberg catalog; None if it is no file."""
        lake = self.settings.lake
        return sqlite_file(lake.uri) if lake.catalog is LakeCatalog.JDBC and lake.uri else None

    def lake_io(self) -> Any:
        """The pyiceberg FileIO that reads the lake's files."""
        return self._lake_io

    @cached_property
    def _lake_io(self) -> Any:
        from pyiceberg.io import load_file_io

        return load_file_io(self._lake.properties)

    def close(self) -> None:
        """Close open connections."""
        # Another thread may close it at the same moment. Connections in use are closed later.
        lake = self.__dict__.pop("_lake", None)
        if lake is not None:
            lake.close()

    def lake_url(self) -> URL:
        """The URL of the Iceberg catalog's PostgreSQL, with its password."""
        from sqlalchemy.engine import make_url

        lake = self.settings.lake
        url = make_url(lake.uri or "")
        password = self.secret(lake.password)
        return url if password is None else url.set(password=password)

    def lake_options(self) -> dict[str, str]:
        """Further properties of the Iceberg catalog, with secrets resolved."""
        return {
            name: self.secrets.resolve(value).reveal() if is_reference(value) else value
            for name, value in self.settings.lake.options.items()
        }

    def _lake_properties(self, file: Path | None) -> dict[str, str]:
        lake, storage_settings = self.settings.lake, self.settings.storage
        properties: dict[str, str | None] = {"warehouse": self.address(lake.warehouse or "")}
        if lake.catalog is LakeCatalog.GLUE:
            properties |= {
                "type": "glue",
                "glue.endpoint": lake.glue_endpoint,
                "glue.region": storage_settings.region,
                "glue.access-key-id": self.secret(storage_settings.access_key),
                "glue.secret-access-key": self.secret(storage_settings.secret_key),
            }
        elif lake.catalog is LakeCatalog.REST:
            properties |= {"type": "rest", "uri": lake.uri}
        else:
            uri = f"sqlite:///{file}" if file is not None else self._lake_database()
            # Spark's start creates the catalog tables; a plan must not write.
            properties |= {"type": "sql", "uri": uri, "init_catalog_tables": "false"}
        if storage_settings.kind is StorageKind.S3:
            properties |= {
                "s3.endpoint": storage_settings.endpoint,
                "s3.region": storage_settings.region,
                "s3.access-key-id": self.secret(storage_settings.access_key),
                "s3.secret-access-key": self.secret(storage_settings.secret_key),
                "s3.force-virtual-addressing": "false" if storage_settings.path_style else "true",
            }
        properties |= self.lake_options()
        return {name: value for name, value in properties.items() if value is not None}

    def _lake_database(self) -> str:
        lake = self.settings.lake
        url = self.lake_url().set(drivername="postgresql+psycopg")
        url = url.update_query_dict({"options": f"-csearch_path={lake.schema}"})
        return url.render_as_string(hide_password=False)
