"""Refuse user columns that have the name of a column of Goldsmith or Iceberg."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldsmith.catalog.pipelines import Stage
from goldsmith.checks.free_names import PREFIX
from goldsmith.errors import GoldsmithError
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.resolved_stage import (
    BRONZE_COLUMNS,
    is_lake,
    layer_of,
    write_mode_of,
)
from goldsmith.planning.stage_context import StageContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

_SOURCE_FILE, _INGESTED_AT, _RUN_ID = BRONZE_COLUMNS
#: Metadata columns of Iceberg, which refuses tables that have such a column.
_OF_ICEBERG = (
    *("_file", "_pos", "_deleted", "_spec_id", "_partition"),
    *("_row_id", "_last_updated_sequence_number"),
    *("_change_type", "_change_ordinal", "_commit_snapshot_id"),
)


@dataclass(eq=False, kw_only=True)
class ReservedColumn(GoldsmithError):
    """Rows have a column whose name Goldsmith or Iceberg uses for a column of its own."""

    exit_code = 1

    #: What has the column: the start of the message.
    owner: str
    column: str
    #: What uses the name: the end of the message.
    taken_by: str

    def __str__(self) -> str:
        return f"{self.owner} the column '{self.column}', a name that {self.taken_by}."

    @property
    def hint(self) -> str:
        return (
            f"Give it another name: options.rename of the stage, as in {{{self.column}: "
            f"source{self.column.lower()}}}, or AS in its SQL. Nothing was published."
        )


@dataclass(eq=False, kw_only=True)
class AmbiguousNames(GoldsmithError):
    """A column is named like the path of a nested field in another column, as in `a.b`."""

    exit_code = 1

    target: str
    path: str

    def __str__(self) -> str:
        return (
            f"The rows of '{self.target}' have the column '{self.path}' and a field that Iceberg"
            " calls the same, because its path is that."
        )

    @property
    def hint(self) -> str:
        return "Rename the column by options.rename or in the stage's SQL. Nothing was published."


@dataclass(eq=False, kw_only=True)
class NamelessColumn(GoldsmithError):
    """A column, or a field in one, has the empty text for a name."""

    exit_code = 1

    target: str
    within: str

    def __str__(self) -> str:
        within = f" in '{self.within}'" if self.within else ""
        return f"The rows of '{self.target}' have a column without a name{within}."

    @property
    def hint(self) -> str:
        return "Give it a name in the stage's SQL, or where the rows come from."


def refuse_ambiguous(schema: StructType, target: str) -> None:
    """Refuse columns without a name, and those that Iceberg cannot tell apart by their paths."""
    seen: set[str] = set()
    for within, name in _paths(schema):
        if not name:
            raise NamelessColumn(target=target, within=within.removesuffix("."))
        path = within + name
        if path.lower() in seen:
            raise AmbiguousNames(target=target, path=path)
        seen.add(path.lower())


def _paths(type_: DataType, within: str = "") -> Iterator[tuple[str, str]]:
    """Every field with the path of the column that it is in."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    inner: dict[str, DataType] = {}
    match type_:
        case StructType():
            inner = {f.name: f.dataType for f in type_.fields}
        case ArrayType():
            inner = {"element": type_.elementType}
        case MapType():
            inner = {"key": type_.keyType, "value": type_.valueType}
    for name, field_type in inner.items():
        yield within, name
        yield from _paths(field_type, f"{within}{name}.")


def refuse_reserved(
    context: StageContext, inputs: Mapping[str, DataFrame], rows: DataFrame
) -> None:
    """Refuse shaped rows with a user column that has a reserved name.

    Columns that a bronze stage or the same write mode added to an input pass through.
    """
    is_bronze, target = context.resolved.layer == "bronze", context.target
    mode = context.resolved.write_mode

    def written(column: str, by: Callable[[Stage], bool]) -> bool | None:
        """Whether stages with `by` wrote every input that has the column; None if none has it."""
        holders = [
            dataset
            for dataset in context.inputs
            if column in _lower(inputs[dataset.dataset_id].columns)
            and not (column == _SOURCE_FILE and dataset_kind(dataset) == "files")
        ]
        return all(any(by(writer) for writer in d.writers) for d in holders) if holders else None

    for column in rows.columns:
        taken_by, lower = None, column.lower()
        if lower.startswith(PREFIX):
            taken_by = "begins like those of Goldsmith's own columns"
        elif lower == _SOURCE_FILE:
            if written(lower, lambda writer: True) is False:
                taken_by = "bronze gives to a column of its own"
        elif lower in (_INGESTED_AT, _RUN_ID):
            ours = written(lower, lambda writer: not is_bronze or layer_of(writer) == "bronze")
            if not ours and (is_bronze or ours is False):
                taken_by = "bronze gives to a column of its own"
        elif lower in context.resolved.mode.columns:
            if not written(lower, lambda writer: write_mode_of(writer) == mode):
                taken_by = f"{mode} gives to a column of its own"
        elif lower in _OF_ICEBERG and target is not None and is_lake(target.target):
            taken_by = "Iceberg gives to a column of its own"
        if taken_by is not None:
            owner = f"The rows of '{context.stage.target_id}' have"
            raise ReservedColumn(owner=owner, column=column, taken_by=taken_by)


def _lower(columns: Iterable[str]) -> set[str]:
    return {column.lower() for column in columns}
