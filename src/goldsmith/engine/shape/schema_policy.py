"""Schema policy: how a stage handles columns and types that the target does not have.

`evolve` adds columns and widens types, `freeze` stops the stage, `discard_row` drops rows with
such values, `discard_value` drops only the values. A type is widened only if no value can be
lost; any other mismatch stops the stage unless the policy discards it. The same rules hold for
fields inside structs, also in arrays and in the values of maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from goldsmith.checks.free_names import free_name
from goldsmith.engine.names import name
from goldsmith.engine.shape.nested import Path, as_type, fits, lost_in, without_void
from goldsmith.errors import GoldsmithError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType


@dataclass(eq=False, kw_only=True)
class SchemaMismatch(GoldsmithError):
    """A stage's rows do not fit the columns of its target."""

    exit_code = 1

    target: str
    policy: str
    differences: tuple[str, ...]

    def __str__(self) -> str:
        listed = "; ".join(self.differences)
        return f"The rows do not fit '{self.target}' (schema policy {self.policy}): {listed}."

    @property
    def hint(self) -> str:
        return (
            "Set schema_policy on the stage to evolve, discard_value or discard_row, or change "
            "its SQL. Nothing was published."
        )


class NewField(NamedTuple):
    """A column, or a nested field, to add to the target."""

    path: Path
    type: DataType


@dataclass(frozen=True, kw_only=True, slots=True)
class Fitted:
    """Rows with the target's columns, and the schema changes the target needs first."""

    rows: DataFrame
    add: tuple[NewField, ...] = ()
    widen: Mapping[Path, DataType] = field(default_factory=dict)
    #: The boolean column that marks rows to drop; None if no row is dropped.
    discard_column: str | None = None

    @property
    def discard(self) -> Column | None:
        """The condition for rows to drop."""
        from pyspark.sql import functions as F

        return None if self.discard_column is None else F.col(self.discard_column)

    @property
    def plain(self) -> DataFrame:
        """The rows with only the target's columns."""
        return self.rows if self.discard_column is None else self.rows.drop(self.discard_column)


def fit(
    rows: DataFrame,
    target_schema: StructType | None,
    policy: Mapping[str, str],
    *,
    target: str,
    discard: Column | None = None,
) -> Fitted:
    """Fit rows to the target's schema under a policy; rows that match `discard` are dropped too."""
    from pyspark.sql import functions as F

    rows = _without_void(rows) if target_schema is None else rows
    if target_schema is None and discard is None:
        return Fitted(rows=rows)
    target_schema = rows.schema if target_schema is None else target_schema
    plan = _Plan(policy=policy)
    given = {f.name.lower(): f for f in rows.schema.fields}
    wanted = plan.struct(rows.schema, target_schema, ())
    if plan.wrong:
        raise SchemaMismatch(target=target, policy=plan.policy_text, differences=tuple(plan.wrong))
    selection: list[Column] = []
    for column in wanted.fields:
        found = given.get(column.name.lower())
        value = F.lit(None).cast(column.dataType)
        if found is not None:
            value = as_type(rows, F.col(name(found.name)), found.dataType, column.dataType)
        selection.append(value.alias(column.name))
    lost = lost_in(
        rows,
        [(F.col(name(f.name)), f) for f in rows.schema.fields],
        wanted,
        new_fields=policy.get("columns") == "discard_row",
        other_types=policy.get("types") == "discard_row",
    )
    helper = None
    if lost is None:
        lost = discard
    elif discard is not None:
        lost = lost | discard
    if lost is not None:
        helper = free_name("discard", (*rows.columns, *wanted.names))
        selection.append(lost.alias(helper))
    return Fitted(
        rows=rows.select(*selection),
        add=tuple(plan.add),
        widen=plan.widen,
        discard_column=helper,
    )


class _Plan:
    """Schema changes and mismatches, column by column and field by field."""

    def __init__(self, *, policy: Mapping[str, str]) -> None:
        self.policy = policy
        self.add: list[NewField] = []
        self.widen: dict[Path, DataType] = {}
        self.wrong: list[str] = []

    @property
    def policy_text(self) -> str:
        choices = set(self.policy.values())
        return choices.pop() if len(choices) == 1 else str(dict(self.policy))

    def struct(self, found: StructType, target_schema: StructType, path: Path) -> StructType:
        """The fields the target will have."""
        from pyspark.sql.types import StructField, StructType

        new = {f.name.lower(): f for f in found.fields}
        fields: list[StructField] = []
        for known in target_schema.fields:
            given = new.pop(known.name.lower(), None)
            type_ = known.dataType
            if given is not None:
                type_ = self._type(given.dataType, type_, (*path, known.name))
            fields.append(StructField(known.name, type_))
        for given in new.values():
            type_ = without_void(given.dataType)
            if self._is_added(NewField((*path, given.name), type_)):
                fields.append(StructField(given.name, type_))
        return StructType(fields)

    def _is_added(self, new: NewField) -> bool:
        match self.policy.get("columns"):
            case "evolve":
                self.add.append(new)
                return True
            case "discard_row" | "discard_value":
                return False
        self.wrong.append(f"{_called(new.path)} ({new.type.simpleString()}) is new")
        return False

    def _type(self, found: DataType, target_type: DataType, path: Path) -> DataType:
        """The type a column or field of the target will have."""
        from pyspark.sql.types import ArrayType, MapType, StructType

        match found, target_type:
            case StructType(), StructType():
                return self.struct(found, target_type, path)
            case ArrayType(), ArrayType():
                element = self._type(found.elementType, target_type.elementType, (*path, "element"))
                return ArrayType(element)
            case MapType(), MapType() if found.keyType == target_type.keyType:
                value = self._type(found.valueType, target_type.valueType, (*path, "value"))
                return MapType(target_type.keyType, value)
        given, known = found.simpleString(), target_type.simpleString()
        if given in (known, "void") or fits(given, known):
            return target_type
        policy = self.policy.get("types")
        if policy == "evolve" and fits(known, given):
            self.widen[path] = found
            return found
        if policy not in ("discard_row", "discard_value"):
            self.wrong.append(f"{_called(path)} is {given} and the target's is {known}")
        return target_type


def _called(path: Path) -> str:
    return f"{'column' if len(path) == 1 else 'field'} '{'.'.join(path)}'"


def _without_void(rows: DataFrame) -> DataFrame:
    """Cast VOID columns and fields, which hold only NULL, to STRING: tables have no VOID."""
    from pyspark.sql import functions as F

    void = {
        f.name: F.col(name(f.name)).cast(without_void(f.dataType))
        for f in rows.schema.fields
        if "void" in f.dataType.simpleString() and without_void(f.dataType) != f.dataType
    }
    return rows.withColumns(void) if void else rows
