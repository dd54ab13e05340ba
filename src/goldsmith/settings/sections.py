"""Every setting: its name, its type, and one sentence of documentation.

Anything about a pipeline is a catalog row; settings are about the process and its connections.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from goldsmith.registry import Registry
from goldsmith.settings.warehouse_kinds import KINDS, shipped_types


class SettingKind(StrEnum):
    """The type of a setting's value."""

    TEXT = "text"
    FLAG = "true or false"
    WHOLE = "whole number"
    #: A file or folder; relative to the project.
    PATH = "path"
    #: An s3:// address as in the catalog, or a path.
    ADDRESS = "s3:// address or path"
    URL = "URL without a password"
    SECRET = "secret reference"
    #: Texts by freely chosen names.
    TABLE = "table"


class StorageKind(StrEnum):
    """What s3:// addresses refer to."""

    FOLDER = "folder"
    S3 = "s3"


class LakeCatalog(StrEnum):
    """The kind of the Iceberg catalog."""

    JDBC = "jdbc"
    GLUE = "glue"
    REST = "rest"


class LakeIO(StrEnum):
    """Which FileIO Iceberg uses."""

    HADOOP = "hadoop"
    S3 = "s3"


class LogFormat(StrEnum):
    """The format of log lines."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """The lowest level that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class SettingSpec:
    """The declaration of one setting."""

    doc: str
    kind: SettingKind
    choices: type[StrEnum] | None = None
    #: The name of a plugin.
    plugins: Registry[Any] | None = None
    default: object = None
    #: The prefix of a free table's keys that may also be written directly in the section.
    begins: str = ""


def setting(doc: str, kind: SettingKind = SettingKind.TEXT, **more: Any) -> Any:
    spec = SettingSpec(doc=doc, kind=kind, **more)
    if kind is SettingKind.TABLE:
        return field(default_factory=dict, metadata={"spec": spec})
    return field(default=spec.default, metadata={"spec": spec})


@dataclass(frozen=True, kw_only=True)
class CatalogSettings:
    """Where the catalog and the audit log are."""

    url: str = setting(
        "SQLite or PostgreSQL: `sqlite:///FILE`, `postgresql://USER@HOST/DATABASE`; "
        "unset: .goldsmith/catalog.db of the project.",
        SettingKind.URL,
    )
    password: str | None = setting("The password of `catalog.url`.", SettingKind.SECRET)

    @property
    def file(self) -> Path | None:
        """The SQLite file of the catalog; None on PostgreSQL."""
        return sqlite_file(self.url)


@dataclass(frozen=True, kw_only=True)
class StorageSettings:
    """What the catalog's s3:// addresses refer to in this environment."""

    kind: StorageKind = setting(
        "folder or s3; unset: s3 if an endpoint, region or key is set, else folder.",
        choices=StorageKind,
    )
    folder: Path = setting(
        "The folder with BUCKET/… for each s3://BUCKET/…; unset: .goldsmith/s3 of the project.",
        SettingKind.PATH,
    )
    endpoint: str | None = setting(
        "The address of an S3 server that is not AWS's.", SettingKind.URL
    )
    region: str | None = setting(
        "The AWS region of all services; unset: $AWS_REGION, us-east-1 with an endpoint."
    )
    path_style: bool = setting(
        "Buckets in the path and not in the host name; unset: true with an endpoint.",
        SettingKind.FLAG,
    )
    access_key: str | None = setting("Unset: AWS's default credentials chain.", SettingKind.SECRET)
    secret_key: str | None = setting("Unset: AWS's default credentials chain.", SettingKind.SECRET)
    bind: Mapping[str, str] = setting(
        "s3:// prefixes → their real address, s3:// or a folder; the longest prefix wins.",
        SettingKind.TABLE,
    )


WAREHOUSES = shipped_types()


@dataclass(frozen=True, kw_only=True)
class WarehouseSettings:
    """The database behind a target's type in this environment."""

    kind: str = setting(
        f"{', '.join(WAREHOUSES[:-1])} or {WAREHOUSES[-1]}; unset: the type's own if url or host is"
        " set, else duckdb.",
        plugins=KINDS,
    )
    url: str | None = setting("host, port, database and user in one.", SettingKind.URL)
    host: str | None = setting("The server of postgres or redshift.")
    port: int | None = setting("Unset: 5432 for postgres, 5439 for redshift.", SettingKind.WHOLE)
    database: str | None = setting("The database on that server.")
    user: str | None = setting("The user that loads the data.")
    password: str | None = setting("The password of that user.", SettingKind.SECRET)
    ssl: bool | None = setting("Whether to use TLS; unset: the driver's default.", SettingKind.FLAG)
    path: Path = setting(
        "The file of duckdb; unset: .goldsmith/warehouse.duckdb of the project.", SettingKind.PATH
    )
    iam_role: str | None = setting("The role COPY reads S3 with; unset: the cluster's default.")
    staging: str | None = setting(
        "Where Parquet files for COPY are staged; unset: `staging.folder`.", SettingKind.ADDRESS
    )
    lock_sec: int = setting(
        "Seconds a load waits for a table that another session has locked, before it fails with "
        "LockTimeout.",
        SettingKind.WHOLE,
        default=300,
    )


@dataclass(frozen=True, kw_only=True)
class LakeSettings:
    """The Iceberg catalog, and where its tables are stored."""

    catalog: LakeCatalog = setting(
        "jdbc, glue or rest.", choices=LakeCatalog, default=LakeCatalog.JDBC
    )
    uri: str | None = setting(
        "jdbc: `sqlite:///FILE` or `postgresql://…`; rest: its address; unset: the catalog's "
        "database on PostgreSQL, else .goldsmith/lake.db.",
        SettingKind.URL,
    )
    schema: str = setting("The schema of a jdbc catalog in PostgreSQL.", default="iceberg")
    password: str | None = setting(
        "The password of `lake.uri`; unset: the catalog's, if the database is the catalog's.",
        SettingKind.SECRET,
    )
    warehouse: str | None = setting(
        "Where tables without a location of their own are stored; unset: .goldsmith/lake; "
        "required with s3, unless the catalog is rest.",
        SettingKind.ADDRESS,
    )
    io: LakeIO = setting("hadoop or s3; unset: as `storage.kind`.", choices=LakeIO)
    glue_endpoint: str | None = setting("A Glue Data Catalog that is not AWS's.", SettingKind.URL)
    options: Mapping[str, str] = setting(
        "Further properties of the Iceberg catalog, by Iceberg's names; "
        "a value may be a secret reference.",
        SettingKind.TABLE,
    )


@dataclass(frozen=True, kw_only=True)
class SchemasSettings:
    """What schema ARNs refer to in this environment."""

    folder: Path = setting(
        "Schema files named like the end of the ARN; unset: schemas of the project.",
        SettingKind.PATH,
    )
    glue_endpoint: str | None = setting(
        "A Glue schema registry that is not AWS's.", SettingKind.URL
    )


@dataclass(frozen=True, kw_only=True)
class LambdasSettings:
    """What Lambda ARNs refer to in this environment."""

    endpoint: str | None = setting("A Lambda service that is not AWS's.", SettingKind.URL)
    handlers: Mapping[str, str] = setting(
        "ARN → `python:MODULE:FUNCTION` or a command; any other ARN is called on AWS.",
        SettingKind.TABLE,
        begins="arn:",
    )


@dataclass(frozen=True, kw_only=True)
class SparkSettings:
    """Which Spark runs the stages."""

    master: str = setting(
        "local[*], spark://…, yarn, k8s://…, or spark-submit: the master given to spark-submit.",
        default="local[*]",
    )
    remote: str | None = setting(
        "A Spark Connect server, `sc://HOST:PORT`; used instead of `master`.", SettingKind.URL
    )
    token: str | None = setting("The token of that server.", SettingKind.SECRET)
    driver_memory: str = setting("The memory of the driver, `2g`.", default="2g")
    native: bool = setting(
        "Evaluate checks of large tables and staged files with Arrow, in Spark's Python workers.",
        SettingKind.FLAG,
        default=True,
    )
    java_home: Path | None = setting(
        "The Java to use; unset: $JAVA_HOME, PATH, then the one of goldsmith[java].",
        SettingKind.PATH,
    )
    conf: Mapping[str, str] = setting(
        "Any of Spark's own settings, by their own names.", SettingKind.TABLE
    )


@dataclass(frozen=True, kw_only=True)
class StagingSettings:
    """Where data is staged before it is published."""

    folder: str = setting(
        "A folder or s3:// prefix; unset: .goldsmith/staging.", SettingKind.ADDRESS
    )


@dataclass(frozen=True, kw_only=True)
class SecretsSettings:
    """Where aws-secret: references are looked up."""

    endpoint: str | None = setting("A Secrets Manager that is not AWS's.", SettingKind.URL)


@dataclass(frozen=True, kw_only=True)
class HealthSettings:
    """When a dataset counts as down, and when it is used again."""

    down_after: int = setting(
        "How many probes in a row must fail before a dataset counts as down.",
        SettingKind.WHOLE,
        default=2,
    )
    well_for_sec: int = setting(
        "For how many seconds every probe of a dataset that was down must succeed before it is "
        "used again.",
        SettingKind.WHOLE,
        default=60,
    )
    probe_every_sec: int = setting(
        "How often, in seconds, a service probes datasets that are down.",
        SettingKind.WHOLE,
        default=10,
    )


@dataclass(frozen=True, kw_only=True)
class LakehouseSettings:
    """Where clients of the load API put their files, and whom it believes."""

    location: str = setting(
        "Where the files of loads are; each tenant's are below its own name.",
        SettingKind.ADDRESS,
        default="s3://lakehouse",
    )
    trust_tenant_header: bool = setting(
        "Believe X-Atlan-Tenant-Id of other machines without a key: only behind a proxy that "
        "sets it.",
        SettingKind.FLAG,
        default=False,
    )
    largest_record: int = setting(
        "The most bytes of one raw record.", SettingKind.WHOLE, default=16_777_216
    )


@dataclass(frozen=True, kw_only=True)
class LogsSettings:
    """Where log lines are written, and their format."""

    level: LogLevel = setting(
        "debug, info, warning or error.", choices=LogLevel, default=LogLevel.WARNING
    )
    format: LogFormat = setting("text or json.", choices=LogFormat, default=LogFormat.TEXT)
    file: Path | None = setting("Unset: standard error.", SettingKind.PATH)


#: Section → its class, in the order of the documentation.
SECTIONS: Mapping[str, type] = {
    "catalog": CatalogSettings,
    "storage": StorageSettings,
    **{f"warehouses.{type_}": WarehouseSettings for type_ in WAREHOUSES},
    "lake": LakeSettings,
    "staging": StagingSettings,
    "schemas": SchemasSettings,
    "lambdas": LambdasSettings,
    "secrets": SecretsSettings,
    "spark": SparkSettings,
    "health": HealthSettings,
    "lakehouse": LakehouseSettings,
    "logs": LogsSettings,
}


@lru_cache
def specs() -> Mapping[str, SettingSpec]:
    """Every setting by its full name: `storage.kind`, `warehouses.redshift.host`."""
    return {
        "name": SettingSpec(
            doc="The project's name; unset: the name of its folder.", kind=SettingKind.TEXT
        ),
        **{
            f"{section}.{attribute.name}": attribute.metadata["spec"]
            for section, holds in SECTIONS.items()
            for attribute in fields(holds)
        },
    }


def sqlite_file(url: str) -> Path | None:
    """The file of a `sqlite:///FILE` URL; None for any other."""
    scheme, _, rest = url.partition(":///")
    name = rest.partition("?")[0]
    is_file = scheme.partition("+")[0] == "sqlite" and name not in ("", ":memory:")
    return Path(name) if is_file else None
