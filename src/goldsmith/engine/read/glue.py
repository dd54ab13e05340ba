"""Schemas by ARN: from a local file, the Glue schema registry or the Glue Data Catalog."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from goldsmith.credentials import library
from goldsmith.engine.read import avro_schema, json_schema
from goldsmith.engine.read.errors import BadSchema, SchemaUnreachable
from goldsmith.engine.read.spark_types import of_ddl, of_hive, readable
from goldsmith.settings.sections import StorageKind
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_ENDINGS = ("avsc", "json", "ddl")
#: AWS errors for a schema that does not exist; any other error is transient.
_NOT_THERE = ("EntityNotFoundException", "InvalidInputException", "ValidationException")


class Arn(NamedTuple):
    """The parts of `arn:aws:glue:REGION:ACCOUNT:KIND/…`."""

    text: str
    region: str
    account: str
    kind: str
    #: The parts after the kind: registry and name, or database and table.
    path: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Arn:
        # The seed has `arn:aws:glue:...:schema/user_events`: missing parts stay empty.
        head, _, resource = text.rpartition(":")
        parts = head.split(":")
        kind, *path = resource.split("/")
        region, account = (*parts[3:5], "", "")[:2]
        return cls(text, region.strip("."), account.strip("."), kind, tuple(path))

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else self.kind


def find(text: str, storage: Storage) -> tuple[StructType, str] | None:
    """The schema of an ARN and where it was found; None without a file for it and without Glue."""
    arn = Arn.of(text)
    for ending in _ENDINGS:
        file = storage.settings.schemas.folder / f"{arn.name}.{ending}"
        if file.is_file():
            return _of_file(file), str(file)
    if not _has_glue(storage):
        return None
    return (_of_table if arn.kind == "table" else _of_registry)(arn, storage), text


def _of_file(file: Path) -> StructType:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".ddl":
        return of_ddl(text, str(file))
    return of_definition(text, "AVRO" if file.suffix == ".avsc" else "JSON", str(file))


def of_definition(text: str, kind: str, location: str) -> StructType:
    """A schema from its definition; `kind` is Glue's data format: AVRO, JSON or PROTOBUF."""
    from pyspark.sql.types import StructType

    if kind not in ("AVRO", "JSON"):
        raise BadSchema(
            place=location,
            cause=f"it is in {kind.capitalize()}, which says nothing of the files' columns.",
            advice="Say the columns in declared_schema of the source.",
        )
    try:
        definition = json.loads(text)
        is_object = isinstance(definition, dict)
        if kind == "AVRO" or (is_object and definition.get("type") == "record"):
            return readable(avro_schema.struct_of(definition))
        if is_object and definition.get("type") == "struct":
            return readable(StructType.fromJson(definition))
        return readable(json_schema.struct_of(definition))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadSchema(place=location, cause=f"{error}.") from error


def _has_glue(storage: Storage) -> bool:
    settings = storage.settings
    return settings.schemas.glue_endpoint is not None or settings.storage.kind is StorageKind.S3


def _of_registry(arn: Arn, storage: Storage) -> StructType:
    answer = _ask(
        arn,
        storage,
        "get_schema_version",
        SchemaId={"SchemaArn": arn.text},
        SchemaVersionNumber={"LatestVersion": True},
    )
    return of_definition(answer["SchemaDefinition"], answer["DataFormat"], arn.text)


def _of_table(arn: Arn, storage: Storage) -> StructType:
    if len(arn.path) != 2:
        raise BadSchema(place=arn.text, cause="a table is named `table/DATABASE/TABLE`.")
    database, table = arn.path
    whose = {"CatalogId": arn.account} if arn.account else {}
    answer = _ask(arn, storage, "get_table", DatabaseName=database, Name=table, **whose)
    # Partition keys are in folder names, not in the files.
    columns = answer["Table"].get("StorageDescriptor", {}).get("Columns", ())
    return of_hive([(column["Name"], column["Type"]) for column in columns], arn.text)


def _ask(arn: Arn, storage: Storage, verb: str, **what: Any) -> Any:
    boto3 = library("boto3", extra="aws")
    botocore = import_module("botocore.exceptions")
    config = import_module("botocore.config").Config(
        connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 3}
    )
    storage_settings = storage.settings.storage
    try:
        client = boto3.client(
            "glue",
            region_name=arn.region or storage_settings.region,
            endpoint_url=storage.settings.schemas.glue_endpoint,
            aws_access_key_id=storage.secret(storage_settings.access_key),
            aws_secret_access_key=storage.secret(storage_settings.secret_key),
            config=config,
        )
        return getattr(client, verb)(**what)
    except botocore.ClientError as error:
        code = error.response["Error"]["Code"]
        cause = f"AWS answers {code}: {error.response['Error'].get('Message', '')}"
        if code in _NOT_THERE:
            raise BadSchema(place=arn.text, cause=cause, advice=_ELSEWHERE) from error
        raise SchemaUnreachable(arn=arn.text, cause=cause) from error
    except (botocore.BotoCoreError, ValueError) as error:
        raise SchemaUnreachable(arn=arn.text, cause=str(error)) from error


_ELSEWHERE = (
    "Correct schema_arn of the source, or put a file named as the ARN ends (.avsc, .json, .ddl) "
    "into the schemas folder."
)
