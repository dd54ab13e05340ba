"""Schemas by ARN: the Glue schema registry, tables of the Glue Data Catalog, or a file here."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from goldsmith.credentials import library
from goldsmith.engine.readers import avro_schema, json_schema
from goldsmith.engine.readers.errors import BadSchema, SchemaUnreachable
from goldsmith.engine.readers.spark_types import of_ddl, of_hive, readable
from goldsmith.planning.places import Places
from goldsmith.settings.sections import StorageKind

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_ENDINGS = ("avsc", "json", "ddl")
#: Errors that say there is no such schema; any other may pass by itself.
_NOT_THERE = ("EntityNotFoundException", "InvalidInputException", "ValidationException")


class Arn(NamedTuple):
    """`arn:aws:glue:REGION:ACCOUNT:KIND/…`, taken apart."""

    text: str
    region: str
    account: str
    kind: str
    #: What follows the kind: registry and name, or database and table.
    path: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Arn:
        # The seed writes `arn:aws:glue:...:schema/user_events`: what is left out stays empty.
        head, _, resource = text.rpartition(":")
        parts = head.split(":")
        kind, *path = resource.split("/")
        region, account = (*parts[3:5], "", "")[:2]
        return cls(text, region.strip("."), account.strip("."), kind, tuple(path))

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else self.kind


def find(text: str, places: Places) -> tuple[StructType, str] | None:
    """The schema an ARN leads to here and where it was found; None where it leads nowhere."""
    arn = Arn.of(text)
    for ending in _ENDINGS:
        file = places.settings.schemas.folder / f"{arn.name}.{ending}"
        if file.is_file():
            return _of_file(file), str(file)
    if not _has_glue(places):
        return None
    return (_of_table if arn.kind == "table" else _of_registry)(arn, places), text


def _of_file(file: Path) -> StructType:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".ddl":
        return of_ddl(text, str(file))
    return of_definition(text, "AVRO" if file.suffix == ".avsc" else "JSON", str(file))


def of_definition(text: str, kind: str, place: str) -> StructType:
    """A schema from the text of its definition; `kind` is Glue's word: AVRO, JSON, PROTOBUF."""
    from pyspark.sql.types import StructType

    if kind not in ("AVRO", "JSON"):
        raise BadSchema(
            place=place,
            cause=f"it is in {kind.capitalize()}, which says nothing of the files' columns.",
            advice="Say the columns in declared_schema of the source.",
        )
    try:
        said = json.loads(text)
        is_object = isinstance(said, dict)
        if kind == "AVRO" or (is_object and said.get("type") == "record"):
            return readable(avro_schema.struct_of(said))
        if is_object and said.get("type") == "struct":
            return readable(StructType.fromJson(said))
        return readable(json_schema.struct_of(said))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadSchema(place=place, cause=f"{error}.") from error


def _has_glue(places: Places) -> bool:
    settings = places.settings
    return settings.schemas.glue_endpoint is not None or settings.storage.kind is StorageKind.S3


def _of_registry(arn: Arn, places: Places) -> StructType:
    answer = _ask(
        arn,
        places,
        "get_schema_version",
        SchemaId={"SchemaArn": arn.text},
        SchemaVersionNumber={"LatestVersion": True},
    )
    return of_definition(answer["SchemaDefinition"], answer["DataFormat"], arn.text)


def _of_table(arn: Arn, places: Places) -> StructType:
    if len(arn.path) != 2:
        raise BadSchema(place=arn.text, cause="a table is named `table/DATABASE/TABLE`.")
    database, table = arn.path
    whose = {"CatalogId": arn.account} if arn.account else {}
    answer = _ask(arn, places, "get_table", DatabaseName=database, Name=table, **whose)
    # Partition keys are in the names of folders and not in the files.
    columns = answer["Table"].get("StorageDescriptor", {}).get("Columns", ())
    return of_hive([(column["Name"], column["Type"]) for column in columns], arn.text)


def _ask(arn: Arn, places: Places, verb: str, **what: Any) -> Any:
    boto3 = library("boto3", extra="aws")
    botocore = import_module("botocore.exceptions")
    config = import_module("botocore.config").Config(
        connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 3}
    )
    storage = places.settings.storage
    try:
        client = boto3.client(
            "glue",
            region_name=arn.region or storage.region,
            endpoint_url=places.settings.schemas.glue_endpoint,
            aws_access_key_id=places.secret(storage.access_key),
            aws_secret_access_key=places.secret(storage.secret_key),
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
