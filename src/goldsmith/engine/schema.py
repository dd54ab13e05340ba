"""Schema policy: what becomes of columns and types the target does not have.

`evolve` adds columns and widens types, `freeze` stops the stage, `discard_row` leaves rows out
that need them, `discard_value` leaves the values out. A type is widened only where no value can
be lost; anything else that does not fit stops the stage unless the policy discards it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goldsmith.engine.names import name
from goldsmith.errors import GoldsmithError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructField, StructType

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_REAL = ("float", "double")


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Fitted:
    """Rows in the target's columns, and what the target needs first."""

    rows: DataFrame
    add: tuple[StructField, ...] = ()
    widen: Mapping[str, str] = field(default_factory=dict)
    #: Rows for which this holds are left out.
    discard: Column | None = None


def fit(
    rows: DataFrame, there: StructType | None, policy: Mapping[str, str], *, target: str
) -> Fitted:
    """Rows as the target takes them under a policy."""
    from pyspark.sql import functions as F

    rows = _without_void(rows)
    if there is None:
        return Fitted(rows=rows)
    known = {f.name.lower(): f for f in there.fields}
    given = {f.name.lower(): f for f in rows.schema.fields}
    plan = _Plan(policy=policy, target=target)
    for key, column in given.items():
        if key not in known:
            plan.new_column(column)
    chosen: list[Column] = []
    for key, column in known.items():
        if key not in given:
            chosen.append(F.lit(None).cast(column.dataType).alias(column.name))
        else:
            chosen.append(plan.fitted(given[key], column.dataType).alias(column.name))
    if plan.wrong:
        raise SchemaMismatch(target=target, policy=plan.said, differences=tuple(plan.wrong))
    chosen += [F.col(name(column.name)) for column in plan.add]
    if plan.discard is not None:
        rows = rows.withColumn("_discard", plan.discard)
        chosen.append(F.col("_discard"))
    return Fitted(
        rows=rows.select(*chosen),
        add=tuple(plan.add),
        widen=plan.widen,
        discard=None if plan.discard is None else F.col("_discard"),
    )


class _Plan:
    """What has to be done column by column."""

    def __init__(self, *, policy: Mapping[str, str], target: str) -> None:
        self.policy = policy
        self.target = target
        self.add: list[StructField] = []
        self.widen: dict[str, str] = {}
        self.wrong: list[str] = []
        self.discard: Column | None = None

    @property
    def said(self) -> str:
        words = set(self.policy.values())
        return words.pop() if len(words) == 1 else str(dict(self.policy))

    def new_column(self, column: StructField) -> None:
        from pyspark.sql import functions as F

        match self.policy.get("columns"):
            case "evolve":
                self.add.append(column)
            case "discard_row":
                self._discard(F.col(name(column.name)).isNotNull())
            case "discard_value":
                pass
            case _:
                self.wrong.append(
                    f"column '{column.name}' ({column.dataType.simpleString()}) is new"
                )

    def fitted(self, column: StructField, wanted: DataType) -> Column:
        """A column as the type the target has, or will have."""
        from pyspark.sql import functions as F

        value = F.col(name(column.name))
        found, there = column.dataType.simpleString(), wanted.simpleString()
        if found == there or fits(found, there):
            return value if found == there else value.cast(wanted)
        policy = self.policy.get("types")
        if policy == "evolve" and fits(there, found):
            self.widen[column.name] = found
            return value
        if policy in ("discard_row", "discard_value"):
            tried = value.try_cast(wanted)
            if policy == "discard_row":
                self._discard(value.isNotNull() & tried.isNull())
            return tried
        self.wrong.append(f"column '{column.name}' is {found} and the target's is {there}")
        return value

    def _discard(self, condition: Column) -> None:
        self.discard = condition if self.discard is None else self.discard | condition


def fits(narrow: str, wide: str) -> bool:
    """Every value of one type is a value of the other, as Iceberg promotes types."""
    for ladder in (_WHOLE, _REAL):
        if narrow in ladder and wide in ladder:
            return ladder.index(narrow) <= ladder.index(wide)
    if narrow.startswith("decimal") and wide.startswith("decimal"):
        (precision, scale), (more, same) = _decimal(narrow), _decimal(wide)
        return scale == same and precision <= more
    return False


def _decimal(type_: str) -> tuple[int, int]:
    precision, scale = type_.removeprefix("decimal(").rstrip(")").split(",")
    return int(precision), int(scale)


def _without_void(rows: DataFrame) -> DataFrame:
    """A column of nothing but NULL has no type that a table could have."""
    from pyspark.sql import functions as F

    void: dict[str, Any] = {
        f.name: F.col(name(f.name)).cast("string")
        for f in rows.schema.fields
        if f.dataType.simpleString() == "void"
    }
    return rows.withColumns(void) if void else rows
