"""Every setting there is: its name, its type, and one sentence of documentation.

Anything about a pipeline is a row; what stands here is about the process and where things are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any


class Kind(StrEnum):
    """What a setting holds."""

    TEXT = "text"
    FLAG = "true or false"
    WHOLE = "whole number"
    #: A file or folder; a relative one is the project's.
    PATH = "path"
    #: An s3:// address as the catalog would write it, or a path.
    ADDRESS = "s3:// address or path"
    URL = "URL without a password"
    SECRET = "secret reference"
    #: Names to texts; free names.
    TABLE = "table"


class StorageKind(StrEnum):
    """What s3:// addresses are."""

    FOLDER = "folder"
    S3 = "s3"


class WarehouseKind(StrEnum):
    """What a warehouse really is here."""

    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    REDSHIFT = "redshift"


class LakeCatalog(StrEnum):
    """Who keeps the list of Iceberg tables."""

    JDBC = "jdbc"
    GLUE = "glue"
    REST = "rest"


class LakeIO(StrEnum):
    """Which of Iceberg's ways to files is taken."""

    HADOOP = "hadoop"
    S3 = "s3"


class LogFormat(StrEnum):
    """How log lines look."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """The least that is worth a line."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One setting in words."""

    doc: str
    kind: Kind
    words: type[StrEnum] | None = None
    default: object = None
    #: A free table whose keys may also stand in the section itself, told by how they begin.
    begins: str = ""


def setting(doc: str, kind: Kind = Kind.TEXT, **more: Any) -> Any:
    spec = Spec(doc=doc, kind=kind, **more)
    if kind is Kind.TABLE:
        return field(default_factory=dict, metadata={"spec": spec})
    return field(default=spec.default, metadata={"spec": spec})


@dataclass(frozen=True, kw_only=True)
class CatalogSettings:
    """Where the catalog and the audit log are."""

    url: str = setting(
        "SQLite or PostgreSQL: `sqlite:///FILE`, `postgresql://USER@HOST/DATABASE`; "
        "unset: .goldsmith/catalog.db of the project.",
        Kind.URL,
    )
    password: str | None = setting("The password of `catalog.url`.", Kind.SECRET)

    @property
    def file(self) -> Path | None:
        """The SQLite file, where the catalog is one."""
        return sqlite_file(self.url)


@dataclass(frozen=True, kw_only=True)
class StorageSettings:
    """What the s3:// addresses of the catalog are here."""

    kind: StorageKind = setting(
        "folder or s3; unset: s3 where an endpoint, region or key is said, else folder.",
        words=StorageKind,
    )
    folder: Path = setting(
        "Holds BUCKET/… for each s3://BUCKET/…; unset: .goldsmith/s3 of the project.", Kind.PATH
    )
    endpoint: str | None = setting("The address of an S3 server that is not AWS's.", Kind.URL)
    region: str | None = setting(
        "The AWS region of all services; unset: $AWS_REGION, us-east-1 with an endpoint."
    )
    path_style: bool = setting(
        "Buckets in the path and not in the host name; unset: true with an endpoint.", Kind.FLAG
    )
    access_key: str | None = setting("Unset: AWS's own chain of credentials.", Kind.SECRET)
    secret_key: str | None = setting("Unset: AWS's own chain of credentials.", Kind.SECRET)
    bind: Mapping[str, str] = setting(
        "s3:// prefixes → where they really are, s3:// or a folder; the longest wins.",
        Kind.TABLE,
    )


@dataclass(frozen=True, kw_only=True)
class WarehouseSettings:
    """What a target's type is here."""

    kind: WarehouseKind = setting(
        "duckdb, postgres or redshift; unset: the type's own where url or host is said, "
        "else duckdb.",
        words=WarehouseKind,
    )
    url: str | None = setting("host, port, database and user in one.", Kind.URL)
    host: str | None = setting("The server of a postgres or redshift.")
    port: int | None = setting("Unset: 5432 for postgres, 5439 for redshift.", Kind.WHOLE)
    database: str | None = setting("The database on that server.")
    user: str | None = setting("Who loads.")
    password: str | None = setting("The password of that user.", Kind.SECRET)
    ssl: bool | None = setting("Whether to encrypt; unset: the driver's own way.", Kind.FLAG)
    path: Path = setting(
        "The file of a duckdb; unset: .goldsmith/warehouse.duckdb of the project.", Kind.PATH
    )
    iam_role: str | None = setting("The role COPY reads S3 with; unset: the cluster's default.")
    staging: str | None = setting(
        "Where Parquet for COPY is put; unset: `staging.folder`.", Kind.ADDRESS
    )
    lock_sec: int = setting(
        "How long a load waits for a table that somebody else has locked, before it fails as "
        "LockTimeout.",
        Kind.WHOLE,
        default=300,
    )


@dataclass(frozen=True, kw_only=True)
class LakeSettings:
    """Where the Iceberg tables are listed and kept."""

    catalog: LakeCatalog = setting(
        "jdbc, glue or rest.", words=LakeCatalog, default=LakeCatalog.JDBC
    )
    uri: str | None = setting(
        "jdbc: `sqlite:///FILE` or `postgresql://…`; rest: its address; unset: the catalog's "
        "database on PostgreSQL, else .goldsmith/lake.db.",
        Kind.URL,
    )
    schema: str = setting("The schema of a list in PostgreSQL.", default="iceberg")
    password: str | None = setting(
        "The password of `lake.uri`; unset: the catalog's, if the database is the catalog's.",
        Kind.SECRET,
    )
    warehouse: str | None = setting(
        "Where tables without a location of their own lie; unset: .goldsmith/lake; "
        "required with s3, unless the catalog is rest.",
        Kind.ADDRESS,
    )
    io: LakeIO = setting("hadoop or s3; unset: as `storage.kind`.", words=LakeIO)
    glue_endpoint: str | None = setting("A Glue Data Catalog that is not AWS's.", Kind.URL)
    options: Mapping[str, str] = setting(
        "Further properties of the Iceberg catalog, by Iceberg's names; "
        "a value may be a secret reference.",
        Kind.TABLE,
    )


@dataclass(frozen=True, kw_only=True)
class SchemasSettings:
    """What schema ARNs are here."""

    folder: Path = setting(
        "Schema files named as the ARN ends; unset: schemas of the project.", Kind.PATH
    )
    glue_endpoint: str | None = setting("A Glue schema registry that is not AWS's.", Kind.URL)


@dataclass(frozen=True, kw_only=True)
class LambdasSettings:
    """What Lambda ARNs are here."""

    endpoint: str | None = setting("A Lambda service that is not AWS's.", Kind.URL)
    handlers: Mapping[str, str] = setting(
        "ARN → `python:MODULE:FUNCTION` or a command; an ARN without one goes to AWS.",
        Kind.TABLE,
        begins="arn:",
    )


@dataclass(frozen=True, kw_only=True)
class SparkSettings:
    """Which Spark does the work."""

    master: str = setting(
        "local[*], spark://…, yarn, k8s://…, or spark-submit: whatever it says.",
        default="local[*]",
    )
    remote: str | None = setting(
        "A Spark Connect server, `sc://HOST:PORT`; if said, there is no master.", Kind.URL
    )
    token: str | None = setting("The token of that server.", Kind.SECRET)
    driver_memory: str = setting("The memory of the driver, `2g`.", default="2g")
    native: bool = setting(
        "Checks of rows that lie in files are measured by Arrow, in Spark's Python workers.",
        Kind.FLAG,
        default=True,
    )
    java_home: Path | None = setting(
        "The Java to use; unset: $JAVA_HOME, PATH, then the one the set-up brought.", Kind.PATH
    )
    conf: Mapping[str, str] = setting(
        "Any of Spark's own settings, by their own names.", Kind.TABLE
    )


@dataclass(frozen=True, kw_only=True)
class StagingSettings:
    """Where data is written aside before it is published."""

    folder: str = setting("A folder or s3:// prefix; unset: .goldsmith/staging.", Kind.ADDRESS)


@dataclass(frozen=True, kw_only=True)
class SecretsSettings:
    """Where aws-secret: references are looked up."""

    endpoint: str | None = setting("A Secrets Manager that is not AWS's.", Kind.URL)


@dataclass(frozen=True, kw_only=True)
class LogsSettings:
    """Where log lines go and how they look."""

    level: LogLevel = setting(
        "debug, info, warning or error.", words=LogLevel, default=LogLevel.WARNING
    )
    format: LogFormat = setting("text or json.", words=LogFormat, default=LogFormat.TEXT)
    file: Path | None = setting("Unset: standard error.", Kind.PATH)


WAREHOUSES = ("redshift", "postgres", "duckdb")

#: Section → what it holds, in the order people read them.
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
    "logs": LogsSettings,
}


@lru_cache
def specs() -> Mapping[str, Spec]:
    """Every setting by its full name: `storage.kind`, `warehouses.redshift.host`."""
    return {
        "name": Spec(doc="What the project is called; unset: its folder.", kind=Kind.TEXT),
        **{
            f"{section}.{one.name}": one.metadata["spec"]
            for section, holds in SECTIONS.items()
            for one in fields(holds)
        },
    }


def sqlite_file(url: str) -> Path | None:
    """The file of a `sqlite:///FILE` address; None for any other."""
    scheme, _, rest = url.partition(":///")
    name = rest.partition("?")[0]
    is_file = scheme.partition("+")[0] == "sqlite" and name not in ("", ":memory:")
    return Path(name) if is_file else None
